"""MJPEG over HTTP: cut into pictures whatever the camera writes between them; every way to fail has its words."""

from __future__ import annotations

import itertools
import socket
import time

import pytest

from companion.camera import open_frames
from companion.camera.mjpeg import MjpegParser, StreamOpener
from companion.errors import SourceError
from tests.camera.server import BASIC, DIGEST, CameraServer, jpeg

PATIENCE_S = 20.0
"""How long a test waits for what should come at once, so that a slow machine fails no test."""
FIRST, SECOND = b"\xff\xd8\xff one \xff\xd9", b"\xff\xd8\xff two \xff\xd9"
STREAMS = {
    "with lengths": b"--b\r\nContent-Length: %d\r\n\r\n" % len(FIRST)
    + FIRST
    + b"\r\n--b\r\ncontent-length:%d\r\n\r\n" % len(SECOND)
    + SECOND,
    "without lengths": b"--b\r\n\r\n" + FIRST + b"\r\n--b\r\nContent-Type: image/jpeg\r\n\r\n" + SECOND,
    "with noise before": b"\r\n\r\n--other\r\nX-Time: 3\r\n\r\n" + FIRST + SECOND,
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_a_stream_is_cut_into_pictures_wherever_it_is_split(stream):
    for at in range(len(stream) + 1):
        parser, found = MjpegParser(), []
        for part in (stream[:at], stream[at:]):
            parser.feed(part)
            found += parser
        assert found == [FIRST, SECOND]


def test_a_length_is_believed_though_a_picture_holds_another():
    whole = b"\xff\xd8 thumbnail \xff\xd8 small \xff\xd9 rest \xff\xd9"
    parser = MjpegParser()
    parser.feed(b"Content-Length: %d\r\n\r\n" % len(whole) + whole)
    assert list(parser) == [whole]


def segment(marker: int, content: bytes) -> bytes:
    return bytes((0xFF, marker)) + (len(content) + 2).to_bytes(2, "big") + content


def test_a_picture_without_a_length_does_not_end_where_its_thumbnail_does():
    head = segment(0xE0, b"JFIF") + segment(0xE1, b"Exif\0\0" + FIRST) + segment(0xDB, b"\xff\xd9")
    whole = b"\xff\xd8" + head + segment(0xDA, b"") + b" scan \xff\xd9"
    stream = b"--b\r\n\r\n" + whole + b"\r\n--b\r\n\r\n" + whole
    for at in range(len(stream) + 1):
        parser, found = MjpegParser(), []
        for part in (stream[:at], stream[at:]):
            parser.feed(part)
            found += parser
        assert found == [whole, whole]


def test_what_never_ends_is_no_stream_of_pictures():
    parser = MjpegParser()
    parser.feed(bytes(16 * 1024 * 1024))
    with pytest.raises(SourceError, match="no stream of JPEG pictures"):
        parser.feed(bytes(1))


@pytest.fixture
def server():
    with CameraServer() as server:
        yield server


@pytest.fixture
def frames(server):
    frames = open_frames(server.address, time.monotonic)
    yield frames
    frames.close()


def a_picture(frames) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if frames.read(0.1) is not None:
                return True
        except SourceError:
            pass
    return False


def why_lost(frames, says: str) -> str:
    """What is said of a source that is lost, until it is what is waited for."""
    why, deadline = "", time.monotonic() + PATIENCE_S
    while says not in why and time.monotonic() < deadline:
        try:
            frames.read(0.1)
        except SourceError as error:
            why = str(error)
    return why


def test_a_camera_that_tells_no_lengths_is_understood(server):
    server.behaviour = "bare"
    frames = open_frames(server.address, time.monotonic)
    assert a_picture(frames)
    frames.close()


def test_what_libjpeg_has_to_say_of_every_picture_is_not_told_to_people(server, capfd):
    """As of those of small cameras, that have bytes too many before their end."""
    too_many = itertools.cycle([b"", bytes(range(1, 15)), b""])
    server.encoded = lambda image: jpeg(image)[:-2] + next(too_many) + b"\xff\xd9"
    frames = open_frames(server.address, time.monotonic)
    assert all(a_picture(frames) for _ in range(5))
    frames.close()
    assert "extraneous" not in capfd.readouterr().err


def test_a_camera_whose_pictures_never_end_is_left_at_once(server, caplog):
    server.behaviour = "long"
    frames = open_frames(server.address, time.monotonic)
    assert "it sends no pictures" in why_lost(frames, "it sends no pictures")
    frames.close()
    assert "does not stop" not in caplog.text


TROUBLES = {
    "stall": (lambda server: server.stall.set(), "it sends no pictures"),
    "garbage": (lambda server: setattr(server, "behaviour", "garbage"), "cannot be decoded"),
    "a web page": (lambda server: (setattr(server, "behaviour", "page"), server.hang_up.set()), "it is a web page"),
}


@pytest.mark.parametrize(("trouble", "says"), TROUBLES.values(), ids=TROUBLES)
def test_a_stream_in_trouble_is_lost_and_comes_back(server, frames, trouble, says):
    assert a_picture(frames)
    trouble(server)
    assert says in why_lost(frames, says)
    server.stall.clear()
    server.behaviour = "stream"
    assert a_picture(frames)


def test_a_stream_that_is_slower_than_others_comes_on_one_connection():
    with CameraServer(frame_s=1.7) as server:
        frames = open_frames(server.address, time.monotonic)
        assert all(a_picture(frames) for _ in range(2))
        assert server.answered == 1
        frames.close()


def test_a_stream_that_is_cut_off_goes_on_by_itself(server, frames):
    assert a_picture(frames)
    server.hang_up.set()
    assert all(a_picture(frames) for _ in range(20))


def test_a_server_that_goes_away_is_lost_and_comes_back(server):
    frames = open_frames(server.address, time.monotonic)
    assert a_picture(frames)
    server.__exit__()
    assert "nothing listens on that port" in why_lost(frames, "nothing listens on that port")
    with CameraServer(port=server.port):
        assert a_picture(frames)
        frames.close()


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        ("page", "is not an MJPEG stream: it is a web page; look for the address of the stream itself"),
        ("picture", "is not an MJPEG stream: it is a single picture"),
        ("forbidden", "wants a password (401 Unauthorized)"),
        ("missing", "is not there (404)"),
    ],
)
def test_what_is_no_stream_is_refused_with_advice(server, behaviour, says):
    server.behaviour = behaviour
    with pytest.raises(SourceError) as refused:
        open_frames(server.address, time.monotonic)
    assert str(refused.value).startswith(f"{server.address} {says}")


WAYS_IN = {
    "Basic": [BASIC],
    "Digest": [DIGEST],
    "Digest with qop": [f'{DIGEST}, qop="auth,auth-int", algorithm=MD5, opaque="5c"'],
    "Digest with SHA-256": [f'{DIGEST}, algorithm=SHA-256, qop="auth"'],
    "SHA-256, then MD5": [f'{DIGEST}, algorithm=SHA-256, qop="auth"', f'{DIGEST}, algorithm=MD5, qop="auth"'],
    "one unknown, then Basic": [f"{DIGEST}, algorithm=SHA-512-256", BASIC],
    "one unknown, then Digest": ["Bearer", DIGEST],
    "Basic before Digest": [BASIC, DIGEST],
    "many in one header": [f"Bearer abc=, {DIGEST}, {BASIC}"],
}


@pytest.mark.parametrize("asks", WAYS_IN.values(), ids=WAYS_IN)
def test_a_camera_that_wants_a_password_is_told_the_one_in_its_address(server, asks):
    server.people, server.asks = ("ann", "s@cr/et"), asks
    frames = open_frames(server.address.replace("//", "//ann:s%40cr%2Fet@"), time.monotonic)
    assert a_picture(frames)
    assert frames.name == server.address.replace("//", "//***@")
    server.people = ("ann", "changed")
    server.hang_up.set()
    why = why_lost(frames, "wants another name or password (401 ")
    frames.close()
    assert why.startswith(f"{frames.name} wants another name or password")
    assert "cr" not in why
    assert len(server.logins) == 2


def with_password(server, password="s%40cr%2Fet") -> str:
    return server.address.replace("//", f"//ann:{password}@")


@pytest.mark.parametrize("asks", WAYS_IN.values(), ids=WAYS_IN)
def test_a_wrong_password_is_told_once(server, asks):
    server.people, server.asks = ("ann", "s@cr/et"), asks
    with pytest.raises(SourceError, match="wants another name or password"):
        open_frames(with_password(server, "wrong"), time.monotonic)
    assert len(server.logins) == 1


def test_after_a_wrong_password_a_camera_is_left_alone_for_a_minute(server):
    server.people, now = ("ann", "changed"), 100.0
    opener = StreamOpener(with_password(server), lambda: now)
    said = set()
    for later in (0.0, 0.5, 59.9):
        now = 100.0 + later
        with pytest.raises(SourceError) as refused:
            opener()
        said.add(str(refused.value))
    assert len(server.logins) == len(said) == 1
    server.people, now = ("ann", "s@cr/et"), 160.0
    opener().close()


def test_a_camera_that_is_only_away_is_asked_again_at_once(server):
    server.people, server.behaviour = ("ann", "s@cr/et"), "missing"
    opener = StreamOpener(with_password(server), lambda: 100.0)
    with pytest.raises(SourceError, match="is not there"):
        opener()
    server.behaviour = "stream"
    opener().close()


def test_a_login_that_was_too_old_is_told_once_more(server):
    server.people, server.asks = ("ann", "s@cr/et"), [f'{DIGEST}, qop="auth", stale=TRUE']
    with pytest.raises(SourceError, match="wants another name or password"):
        open_frames(with_password(server, "wrong"), time.monotonic)
    assert ["nc=00000001" in login for login in server.logins] == [True, False]


def test_digest_is_preferred_for_it_does_not_tell_the_password(server):
    server.people, server.asks = ("ann", "s@cr/et"), [BASIC, DIGEST]
    open_frames(with_password(server), time.monotonic).close()
    assert server.logins[0].startswith("Digest ")


@pytest.mark.parametrize("asks", [[BASIC], [DIGEST]])
def test_a_name_and_a_password_of_any_letters_are_told(server, asks):
    server.people, server.asks = ('zoë "z"', "ключ"), asks
    address = server.address.replace("//", "//zo%C3%AB%20%22z%22:%D0%BA%D0%BB%D1%8E%D1%87@")
    open_frames(address, time.monotonic).close()


@pytest.mark.parametrize(
    ("asks", "wanted"),
    [
        (["Bearer"], "Bearer"),
        (['Bearer realm="kitchen"', f"{DIGEST}, algorithm=SHA-512-256"], "Bearer, Digest SHA-512-256"),
        ([f'{DIGEST}, qop="auth-int"'], "Digest"),
    ],
)
def test_a_camera_that_wants_what_is_not_known_here_says_so(server, asks, wanted):
    server.people, server.asks = ("ann", "s@cr/et"), asks
    with pytest.raises(SourceError, match=f"wants a login by {wanted}; choose Basic or Digest"):
        open_frames(with_password(server), time.monotonic)
    assert server.logins == []


@pytest.mark.parametrize("asks", [[BASIC], [f'{DIGEST}, qop="auth"']])
def test_a_camera_that_sends_on_within_itself_is_told_the_password(server, asks):
    server.people, server.asks = ("ann", "s@cr/et"), asks
    server.sends_on["/video"] = "/cgi/stream?size=vga"
    frames = open_frames(with_password(server), time.monotonic)
    assert a_picture(frames)
    frames.close()


@pytest.mark.parametrize(
    ("sends_on", "says"),
    [
        ("/video", "sends on again and again (302); look up the path of the stream in the camera's manual"),
        ("file:///video", "sends on to an address that begins with file:, not with http:; look up the path of the"),
        (None, "sends on (302), and does not say where; look up the path of the stream in the camera's manual"),
    ],
)
def test_a_camera_that_sends_on_to_nowhere_is_told_in_one_clear_line(server, sends_on, says):
    server.sends_on["/video"] = sends_on
    with pytest.raises(SourceError) as refused:
        open_frames(server.address, time.monotonic)
    assert str(refused.value).startswith(f"{server.address} {says}")


def test_whom_a_camera_sends_on_to_is_told_no_password(server):
    server.people = ("ann", "s@cr/et")
    with CameraServer() as other:
        other.people = server.people
        server.sends_on["/video"] = other.address
        with pytest.raises(SourceError) as refused:
            open_frames(with_password(server), time.monotonic)
        assert f"sends on to {other.address}, which wants a password" in str(refused.value)
        assert other.logins == []


@pytest.mark.parametrize(
    "address",
    [
        "http://ann:secret@127.0.0.1:{port}/",
        "http://ann:secret@127.0.0.1/{port}",
        "http://ann:sec/secret@127.0.0.1:{port}/",
        "http://127.0.0.1:{port}/a b?token=secret",
        "http://127.0.0.1:{port}/?token=my secret",
        "http://ann:my secret@127.0.0.1:{port}/",
        "http://ann:my\nsecret@127.0.0.1:{port}/",
        "rtsp://127.0.0.1:{port}/?token=my secret",
        "rtsp://ann:secret@127.0.0.1:{port}/",
        "camera:rtsp://ann:secret@127.0.0.1:{port}/",
    ],
)
def test_a_password_is_in_no_message(address):
    with pytest.raises(SourceError) as refused:
        open_frames(address.format(port=free_port()), time.monotonic)
    assert "secret" not in str(refused.value)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://127.0.0.1:{port}/", "does not answer: nothing listens on that port"),
        ("http://no-such-camera.invalid/", "does not answer: "),
        ("http://", "is no address of a camera"),
        (
            "http://h/my stream?token=my secret",
            "there is a space or a control character in http://h/my%20stream?token=***; write %20",
        ),
        ("http://ann:my secret@h/", "there is a space or a control character in http://***@h/; write %20"),
        ("http://ann%0D%0A:secret@h/", "http://***@h/ is no address of a camera"),
        ("http://h/\udcffvideo", "there is a space or a control character in http://h/%FFvideo; write %20"),
        ("http://h/\tvideo\n", "there is a space or a control character in http://h/%09video%0A; write %20"),
        ("http://[camera/", "is no address of a camera"),
        ("https://127.0.0.1:{port}/", "does not answer: nothing listens on that port"),
    ],
)
def test_a_camera_that_does_not_answer_is_told_in_one_clear_line(address, says):
    with pytest.raises(SourceError) as refused:
        open_frames(address.format(port=free_port()), time.monotonic)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)

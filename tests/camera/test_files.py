"""Videos and folders of pictures, and what each says of bad input; the contract is in `test_contract`."""

from __future__ import annotations

import itertools
import os
import shutil
import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.camera import Frame, FrameSource, open_frames, read_picture
from companion.camera.files import FileClock
from companion.errors import EndOfSource, SourceError, VisionError

SIZE = (64, 48)
ODD = Path(__file__).parents[1] / "data" / "odd"


def picture(grey: int) -> np.ndarray:
    return np.full((SIZE[1], SIZE[0], 3), grey, np.uint8)


@pytest.fixture
def video(tmp_path) -> str:
    path = tmp_path / "short.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, SIZE)
    for grey in (50, 100, 150, 200):
        writer.write(picture(grey))
    writer.release()
    return f"video:{path}"


@pytest.fixture
def images(tmp_path) -> str:
    folder = tmp_path / "stills"
    folder.mkdir()
    for name, grey in (("2.png", 100), ("10.png", 200), ("1.png", 50)):
        cv2.imwrite(str(folder / name), picture(grey))
    (folder / "notes.txt").write_text("not a picture")
    return f"images:{folder}"


def opened(text: str) -> FrameSource:
    return open_frames(text, clock=lambda: 0.0)


def frames_of(text: str) -> list[Frame]:
    source, frames = opened(text), []
    try:
        while True:
            frame = source.read(0)
            assert frame is not None
            frames.append(frame)
    except EndOfSource:
        return frames
    finally:
        source.close()


def test_video_drops_no_frame_and_takes_its_time_from_the_file(video):
    frames = frames_of(video)
    assert [round(frame.time, 3) for frame in frames] == [0.0, 0.1, 0.2, 0.3]
    assert [round(float(frame.image.mean()), -1) for frame in frames] == [50, 100, 150, 200]


def looked_at(frames: list[Frame]) -> dict[int, list[float]]:
    """When each picture of a folder was seen, by its grey."""
    times: dict[int, list[float]] = {}
    for frame in frames:
        times.setdefault(int(frame.image.max()), []).append(frame.time)
    return times


def test_stills_come_in_the_order_people_number_them_and_stay_long_enough_to_be_asked_about(images):
    times = looked_at(frames_of(images))
    assert list(times) == [50, 100, 200]
    assert [seen[0] for seen in times.values()] == [0, 5, 10]
    assert times[50] == [i / 4 for i in range(20)]
    assert times[200][-1] == 34.75


def test_stills_that_are_no_files_or_hidden_are_left_out(tmp_path):
    (tmp_path / "1.jpg").mkdir()
    (tmp_path / "2.jpg").symlink_to(tmp_path / "nowhere.jpg")
    os.mkfifo(tmp_path / "4.jpg")
    (tmp_path / "._3.png").write_bytes(b"what a Mac leaves on a stick")
    cv2.imwrite(str(tmp_path / "3.png"), picture(50))
    assert list(looked_at(frames_of(f"images:{tmp_path}"))) == [50]


def test_stills_may_have_any_sign_for_a_number_in_their_names(tmp_path):
    for name, grey in (("²1.png", 50), ("٣.png", 100), ("½.png", 200)):
        (tmp_path / name).write_bytes(cv2.imencode(".png", picture(grey))[1].tobytes())
    assert len(looked_at(frames_of(f"images:{tmp_path}"))) == 3


def gone(path: Path) -> None:
    path.unlink()


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20])


@pytest.mark.parametrize(("spoil", "why"), [(gone, "there is no picture"), (torn, "is not a picture that can be read")])
def test_stills_end_with_the_first_that_cannot_be_read(images, spoil, why):
    source = opened(images)
    spoil(Path(images.removeprefix("images:")) / "2.png")
    for _ in range(20):
        assert source.read(0).image[0, 0, 0] == 50
    with pytest.raises(SourceError, match=rf"breaks off: .*{why}"):
        source.read(0)
    with pytest.raises(EndOfSource):
        source.read(0)


@pytest.mark.parametrize("size", [(32, 24), (128, 96), (33, 25), SIZE[::-1], (32, 18), (300, 200), (1, 300)])
def test_stills_come_in_the_size_of_the_first(images, size):
    cv2.imwrite(images.removeprefix("images:") + "/2.png", cv2.resize(picture(100), size))
    frames = frames_of(images)
    assert {frame.image.shape for frame in frames} == {picture(0).shape}
    assert list(looked_at(frames)) == [50, 100, 200]


def test_a_still_of_another_shape_is_seen_whole(images):
    """A telephone that was held upright for once."""
    cv2.imwrite(images.removeprefix("images:") + "/2.png", np.full((64, 48, 3), 100, np.uint8))
    image = next(frame.image for frame in frames_of(images) if frame.time == 5)
    assert image[:, :, 0].max(axis=0).tolist() == [0] * 14 + [100] * 36 + [0] * 14


def index_first(video: bytes) -> bytes:
    """An MP4 as it is made for sending: its index before its pictures, and what the index points at further on."""
    boxes, at = {}, 0
    while at < len(video):
        size, kind = struct.unpack_from(">I4s", video, at)
        boxes[kind] = (at, video[at : at + size])
        at += size
    first, index = boxes[b"mdat"][0], bytearray(boxes.pop(b"moov")[1])
    at = index.index(b"stco") + 8
    (count,) = struct.unpack_from(">I", index, at)
    places = struct.unpack_from(f">{count}I", index, at + 4)
    struct.pack_into(f">{count}I", index, at + 4, *(place + len(index) for place in places))
    return b"".join((video[:first], index, video[first : first + len(boxes[b"mdat"][1])]))


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_an_mp4_that_has_lost_a_tenth_breaks_off(tmp_path, share):
    path = tmp_path / "sent.mp4"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), 10, SIZE)
    for seed in range(100):
        writer.write(np.random.default_rng(seed).integers(0, 256, (48, 64, 3), np.uint8))
    writer.release()
    video = index_first(path.read_bytes())
    path.write_bytes(video[: round(len(video) * share)])
    end = EndOfSource if share == 1 else SourceError
    with pytest.raises(end) as told:
        read_all(opened(f"video:{path}"))
    assert ("breaks off" in str(told.value)) == (share < 1)


def test_video_that_breaks_off_says_so_and_ends(tmp_path):
    path = tmp_path / "cut.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, SIZE)
    for seed in range(40):
        writer.write(np.random.default_rng(seed).integers(0, 256, (48, 64, 3), np.uint8))
    writer.release()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    source = opened(f"video:{path}")
    with pytest.raises(SourceError, match=r"breaks off after 2 s: \d+ of 40 frames"):
        read_all(source)
    source._capture = cv2.VideoCapture(str(path))  # of some FFmpeg has a frame or two more
    with pytest.raises(EndOfSource):
        source.read(0)


def brightening(path, coded, *, rate, count):
    """A video of so many frames, from black on."""
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*coded), rate, SIZE)
    for number in range(count):
        writer.write(picture(240 * number // count))
    writer.release()
    return path


def test_video_of_uneven_frames_in_a_transport_stream_is_whole(tmp_path):
    """As a webcam in the evening gives them; the container knows only how long they last."""
    path = brightening(tmp_path / "uneven.ts", "mp4v", rate=10, count=40)
    data, at, ticks = bytearray(path.read_bytes()), 0, 90_000
    for after_s in (0.02, 0.4, 0.03, 0.1, 1.3) * 8:
        at = data.index(b"\0\0\1\xe0", at + 1)  # the head of a frame (ISO/IEC 13818-1, 2.4.3.7)
        assert data[at + 7] >> 6 in (2, 3)
        data[at + 9 : at + 14] = stamp(data[at + 7] >> 6, ticks)
        if data[at + 7] >> 6 == 3:
            data[at + 14 : at + 19] = stamp(1, ticks)
        ticks += round(90_000 * after_s)
    path.write_bytes(data)
    assert cv2.VideoCapture(str(path)).get(cv2.CAP_PROP_FRAME_COUNT) > 100
    times = [frame.time for frame in frames_of(f"video:{path}")]
    assert len(times) == 40
    assert times[-1] == pytest.approx(13.5)


def stamp(kind: int, ticks: int) -> bytes:
    """A time as MPEG has it: three, fifteen and fifteen bits, each with a 1 behind it."""
    bits = kind << 36 | (ticks >> 30) << 33 | (ticks >> 15 & 0x7FFF) << 17 | (ticks & 0x7FFF) << 1
    return (bits | 1 << 32 | 1 << 16 | 1).to_bytes(5)


def test_time_runs_on_where_recordings_were_joined(tmp_path):
    parts = []
    for part in "abc":
        writer = cv2.VideoWriter(str(tmp_path / f"{part}.ts"), cv2.VideoWriter_fourcc(*"mp4v"), 10, SIZE)
        for grey in range(12):
            writer.write(picture(20 * grey))
        writer.release()
        parts.append((tmp_path / f"{part}.ts").read_bytes())
    (tmp_path / "joined.ts").write_bytes(b"".join(parts))
    times = [frame.time for frame in frames_of(f"video:{tmp_path / 'joined.ts'}")]
    assert len(times) > 30
    assert all(before < time < before + 0.5 for before, time in itertools.pairwise(times))


@pytest.mark.parametrize(
    ("stamps", "times"),
    [
        ([0.0, 0.1, 0.2, 0.0, 0.4, 0.5], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        ([5.0, 5.1, 0.0, 0.1, 0.2, 0.0, 0.1, 0.2], [5.0, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.7]),
        ([0.0] * 4, [0.0, 0.1, 0.2, 0.3]),
        ([0.0, 0.1, 4e4, 4e4 + 0.1, 4e4 + 0.2, 9e4, 9e4 + 0.1], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
        ([0.0, 0.1, 4e4, 0.3, 0.4], [0.0, 0.1, 0.2, 0.3, 0.4]),
        ([9.0, 49.0, 49.1], [9.0, 49.0, 49.1]),
    ],
    ids=["odd", "joined", "none", "joined to later ones", "odd and late", "a pause"],
)
def test_the_clock_of_a_file_runs_on_whatever_its_stamps_do(stamps, times):
    clock = FileClock()
    assert [clock.next(stamp, 10.0) for stamp in stamps] == pytest.approx(times)
    assert (clock.count, clock.time_s) == (len(stamps), pytest.approx(times[-1]))


@pytest.mark.parametrize(
    ("name", "says"), [("interlaced.mp4", "is interlaced, which"), ("av1.mp4", "is coded as AV1, which")]
)
def test_a_video_of_which_no_picture_can_be_decoded_is_told_with_what_helps(name, says):
    """`scripts/odd_files.py` makes them. Before, the first was black pictures, and the second was called damaged."""
    with pytest.raises(SourceError, match=rf"{says} cannot be read; first: ffmpeg -i {ODD / name} ") as refused:
        opened(f"video:{ODD / name}")
    assert "\n" not in str(refused.value)


def test_video_that_begins_late_is_whole(tmp_path):
    """As screen recorders make them: the first frame comes a while after the file's beginning, none is missing."""
    path = brightening(tmp_path / "late.mkv", "MJPG", rate=100, count=10)
    data = path.read_bytes()
    for element, early, late in (
        (b"\xe7\x81", b"\x00", b"\xfa"),  # the cluster's time: 250 ms
        (b"\x44\x89\x88", struct.pack(">d", 100), struct.pack(">d", 350)),  # how long the file is, in ms
    ):
        assert data.count(element + early) == 1
        data = data.replace(element + early, element + late)
    path.write_bytes(data)
    assert cv2.VideoCapture(str(path)).get(cv2.CAP_PROP_FRAME_COUNT) == 35
    assert len(frames_of(f"video:{path}")) == 10


def read_all(source):
    while True:
        source.read(0)


@pytest.fixture
def bad_files(tmp_path) -> Path:
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "broken.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + bytes(range(256)) * 9)
    (tmp_path / "words.txt").write_text("not a video")
    (tmp_path / "bare").mkdir()
    (tmp_path / "phone").mkdir()
    for name in ("1.jpg", "2.DNG"):
        (tmp_path / "phone" / name).write_bytes(b"a picture")
    os.mkfifo(tmp_path / "pipe.mp4")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("video:{}/none.mp4", "there is no video"),
        ("video:{}/empty.mp4", "is not a video that can be read"),
        ("video:{}/broken.mp4", "is not a video that can be read"),
        ("video:{}/words.txt", "is not a video that can be read"),
        ("video:{}/pipe.mp4", "pipe.mp4 is a device or a pipe, not a video"),
        ("video:{}/bare", "is a folder, not a video"),
        ("images:{}/none", "there is no folder"),
        ("video:{}/" + "long" * 80, "cannot be looked at: File name too long"),
        ("{}/" + "long" * 80, "is not a source; known are"),
        ("images:{}/words.txt", "is a file, not a folder"),
        ("images:{}/bare", "has no picture in it"),
        ("images:{}/phone", "2.DNG is a picture of a kind that cannot be read; save such pictures as .jpg"),
        ("tape:1", "is not a source; known are"),
        ("phone:", "let an app on the phone make it a network camera (MJPEG), and give its address: http://"),
        ("{}/words.txt", "did you mean video:"),
    ],
)
def test_bad_source_is_refused_in_one_clear_line(bad_files, text, says):
    with pytest.raises(SourceError) as refused:
        opened(text.format(bad_files))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_picture_of_a_foreign_kind_is_named_as_such(bad_files):
    with pytest.raises(VisionError, match=r"2\.DNG is a picture of a kind that cannot be read; save such"):
        read_picture(bad_files / "phone" / "2.DNG")


@pytest.mark.parametrize("kind", [".jxl", ".dng", ".CR2"])
def test_a_picture_of_a_foreign_kind_in_a_folder_is_not_passed_over(tmp_path, kind):
    cv2.imwrite(str(tmp_path / "1.jpg"), np.zeros((40, 40, 3), np.uint8))
    (tmp_path / f"2{kind}").write_bytes(b"a picture")
    with pytest.raises(SourceError, match="is a picture of a kind that cannot be read; save such"):
        opened(f"images:{tmp_path}")


def test_originals_beside_what_was_saved_from_them_are_passed_over(tmp_path):
    for name in ("1.jpg", "2.jpg"):
        cv2.imwrite(str(tmp_path / name), np.zeros((40, 40, 3), np.uint8))
    for name in ("1.HEIC", "2.CR2", "._3.heic"):
        (tmp_path / name).write_bytes(b"an original")
    assert {frame.time // 5 for frame in frames_of(f"images:{tmp_path}")} == {0, 1, 2, 3, 4, 5}


def test_a_telephones_own_picture_is_read_whatever_it_is_called(tmp_path):
    """Before, it was refused."""
    for name in ("IMG_1.HEIC", "IMG_2.jpg"):
        shutil.copy(ODD / "turned-6.heic", tmp_path / name)
    assert np.array_equal(read_picture(tmp_path / "IMG_1.HEIC"), read_picture(tmp_path / "IMG_2.jpg"))
    assert {frame.image.shape for frame in frames_of(f"images:{tmp_path}")} == {(48, 64, 3)}


def test_a_telephones_own_picture_of_several_is_refused_unless_the_others_are_small_copies():
    assert read_picture(ODD / "small-copy.heic").shape == (48, 64, 3)
    with pytest.raises(VisionError, match=r"several\.heic holds several pictures"):
        read_picture(ODD / "several.heic")


def test_a_telephones_own_picture_that_was_cut_off_is_refused(tmp_path):
    whole = (ODD / "turned-6.heic").read_bytes()
    for length in (12, 200, len(whole) - 20):
        (tmp_path / "1.heic").write_bytes(whole[:length])
        with pytest.raises(VisionError, match=r"1\.heic is not a picture that can be read; it may be damaged"):
            read_picture(tmp_path / "1.heic")


@pytest.mark.parametrize("orientation", [2, 5, 6])
@pytest.mark.parametrize("kind", ["avif", "heic"])
def test_a_picture_is_turned_as_its_container_says(kind, orientation):
    """`scripts/odd_files.py` makes them. Before, only what EXIF says was heeded."""
    upright = read_picture(ODD / f"turned-{orientation}.{kind}")
    assert upright.shape == (48, 64, 3)
    assert upright[:24, :32].min() > 200 > 3 * max(upright[24:].max(), upright[:, 32:].max())


@pytest.mark.parametrize(
    ("sizes", "whole"), [((1.0,), True), ((1.0, 0.25), True), ((1.0, 1.0), False), ((0.1, 1.0), False)]
)
def test_a_tiff_of_several_pages_is_refused_unless_the_others_are_small_copies(tmp_path, sizes, whole):
    page = np.full((60, 80, 3), 90, np.uint8)
    cv2.imwritemulti(str(path := tmp_path / "1.tif"), [cv2.resize(page, None, fx=size, fy=size) for size in sizes])
    if whole:
        assert read_picture(path).shape == page.shape
    else:
        with pytest.raises(VisionError, match="holds several pictures, one after the other; save the one that shows"):
            read_picture(path)


def test_a_picture_comes_before_its_copies_however_they_are_numbered(tmp_path):
    for grey, name in enumerate(("photo.jpg", "photo (1).jpg", "photo (2).png", "photo (10).jpg")):
        cv2.imwrite(str(tmp_path / name), picture(40 * grey))
    times = {round(float(frame.image.mean()) / 40): frame.time for frame in frames_of(f"images:{tmp_path}")}
    assert list(times) == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", [".jpg", ".jpe", ".jp2", ".png", ".bmp", ".ppm", ".tiff", ".webp", ".avif"])
def test_pictures_of_every_kind_are_read(tmp_path, kind):
    done, data = cv2.imencode(kind, picture(100))
    assert done
    (tmp_path / f"1{kind}").write_bytes(data.tobytes())
    assert abs(int(frames_of(f"images:{tmp_path}")[0].image.mean()) - 100) <= 2


@pytest.mark.parametrize("kind", ["gif", "png", "webp", "avif"])
def test_a_picture_that_moves_is_refused_as_nobody_knows_which_one_counts(tmp_path, kind):
    moving = cv2.Animation()
    moving.frames, moving.durations = [picture(grey) for grey in (50, 100, 150)], np.full(3, 200, np.int32)
    path = tmp_path / f"game.{kind}"
    assert cv2.imwriteanimation(str(path), moving)
    with pytest.raises(VisionError, match=f"game.{kind} holds several pictures, one after the other; save the one"):
        read_picture(path)


def test_what_libpng_says_of_a_picture_disturbs_nobody(tmp_path, capfd):
    """A colour profile that it does not like, and a file that breaks off."""
    done, data = cv2.imencode(".png", np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8))
    assert done
    png = data.tobytes()
    chunk = b"iCCPicc\0\0" + zlib.compress(bytes(200))
    odd = len(chunk[4:]).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big")
    header = 33
    (tmp_path / "odd.png").write_bytes(png[:header] + odd + png[header:])
    assert read_picture(tmp_path / "odd.png").shape == (40, 40, 3)
    (tmp_path / "half.png").write_bytes(png[: len(png) // 2])
    with pytest.raises(VisionError, match="is not a picture that can be read"):
        read_picture(tmp_path / "half.png")
    assert "libpng" not in capfd.readouterr().err


def test_picture_is_turned_upright_as_its_exif_says(tmp_path):
    shown = np.zeros((40, 80, 3), np.uint8)
    shown[:, :10] = 255
    done, jpeg = cv2.imencode(".jpg", shown)
    assert done
    turn_right = bytes.fromhex("ffe10022") + b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    path = tmp_path / "turned.jpg"
    path.write_bytes(jpeg.tobytes()[:2] + turn_right + jpeg.tobytes()[2:])
    upright = read_picture(path)
    assert upright.shape == (80, 40, 3)
    assert upright[:5].mean() > 200
    assert upright[20:].mean() < 20


@pytest.mark.parametrize("content", [b"", b"no picture", b"\xff\xd8\xff\xe0broken"])
def test_unreadable_picture_says_so(tmp_path, content):
    path = tmp_path / "bad.jpg"
    path.write_bytes(content)
    with pytest.raises(VisionError, match="is not a picture that can be read"):
        read_picture(path)

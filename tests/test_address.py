"""What an address shows of itself, and what it keeps."""

from __future__ import annotations

import pytest

from companion.address import shown, without_people


@pytest.mark.parametrize(
    ("address", "as_shown"),
    [
        ("http://camera.local/stream", "http://camera.local/stream"),
        ("http://camera.local:8080/?action=stream&plugin=1", "http://camera.local:8080/?action=stream&plugin=1"),
        ("http://ann:secret@camera.local/stream", "http://***@camera.local/stream"),
        ("http://ann@camera.local/stream", "http://***@camera.local/stream"),
        ("rtsp://ann:s@cr/et@10.0.0.7:554/h264", "rtsp://***@10.0.0.7:554/h264"),
        ("tiles:rfc2217://ann:secret@attic:4000", "tiles:rfc2217://***@attic:4000"),
        ("http://ann:my secret@camera.local/stream", "http://***@camera.local/stream"),
        ("http://ann:my very\tsec/ret@camera.local/", "http://***@camera.local/"),
        ("http://camera.local/a b/ann@home", "http://camera.local/a b/ann@home"),
        ("http://h/video?token=my secret&fps=5", "http://h/video?token=***&fps=5"),
        ("http://h/video?token=my secret\nnext line", "http://h/video?token=***\nnext line"),
        ("http://h/video?token=secret", "http://h/video?token=***"),
        ("http://h/video?size=vga&loginpas=secret&fps=5", "http://h/video?size=vga&loginpas=***&fps=5"),
        ("http://h/user=admin_password=secret_channel=1", "http://h/user=***"),
        ("http://h/size=vga_password=secret_channel=1", "http://h/size=vga_password=***"),
        ("camera:0", "camera:0"),
        ("tiles:/dev/ttyUSB0", "tiles:/dev/ttyUSB0"),
        ("video:ann@home/game.mp4", "video:ann@home/game.mp4"),
    ],
)
def test_an_address_shows_where_it_leads_and_no_secret(address, as_shown):
    assert shown(address) == as_shown
    assert shown(as_shown) == as_shown


@pytest.mark.parametrize(
    "field",
    [
        *(
            "psw",
            "psk",
            "pin",
            "cred",
            "session",
            "passwd",
            "PWD",
            "pas",
            "admin_pass",
            "pass1",
            "loginuse",
            "usr",
            "pw",
        ),
        *("key", "api_key", "apiKey", "apikey", "access-token", "sig", "X-Signature", "devicePin", "PHPSESSID", "sid"),
        *("auth", "oauth2", "Authorization", "client_secret", "creds", "credentials", "pin_code", "userpin"),
    ],
)
def test_the_value_of_a_field_that_lets_somebody_in_is_hidden(field):
    assert shown(f"http://h/video?fps=5&{field}=hidden&size=vga") == f"http://h/video?fps=5&{field}=***&size=vga"


@pytest.mark.parametrize(
    "field",
    ["design", "signal", "bypass", "spin", "pinch", "author", "keyframe", "passive", "upward", "sacred", "side"],
)
def test_a_field_that_only_sounds_like_a_secret_is_shown(field):
    assert shown(f"http://h/video?{field}=1") == f"http://h/video?{field}=1"


def test_a_name_and_a_password_are_taken_out_as_they_were_meant():
    address = "http://ann:s%40cr%2Fet@camera.local:8080/video?size=vga"
    assert without_people(address) == ("http://camera.local:8080/video?size=vga", "ann", "s@cr/et")
    assert without_people("http://camera.local/") == ("http://camera.local/", None, "")

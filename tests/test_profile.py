"""The profile file: what is written is read back, and what is wrong is named."""

from __future__ import annotations

import json

import pytest

from companion.errors import ProfileError
from companion.profile import Profile

CORNERS = ((10.0, 90.0), (90.0, 92.0), (88.0, 12.0), (11.0, 9.0))


def test_a_profile_that_is_written_is_read_back_equal(tmp_path):
    profile = Profile(name="kitchen", layout="8x2", variant="green-box", corners=CORNERS)
    profile.write(tmp_path / "p.json")
    assert Profile.read(tmp_path / "p.json") == profile
    assert json.loads((tmp_path / "p.json").read_text())["version"] == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ('{"version":' + "[" * 5000, "is not JSON"),
        ("[]", 'has no "version"'),
        ("{}", 'has no "version"'),
        ('{"version": 2}', "bad field 'version'"),
        ('{"version": 1, "colour": "red"}', "bad field 'colour'"),
        ('{"version": 1, "layout": "###"}', "bad field 'layout': 2x2 boards cannot"),
        ('{"version": 1, "corners": [[1, 2]]}', "bad field 'corners'"),
        ('{"version": 1, "corners": [[1, 2], [3, 4], [5, 6], [7, "x"]]}', "bad field 'corners.3.1'"),
        ('{"version": 1, "variant": "chess"}', "bad field 'variant'"),
        ('{"version": 1, "corners": [[1, 2], [3, 4], [5, 6], [7, Infinity]]}', "bad field 'corners.3.1'"),
    ],
)
def test_a_bad_profile_names_what_is_wrong(tmp_path, text, says):
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(ProfileError) as refused:
        Profile.read(path)
    assert says in str(refused.value)


def test_a_profile_that_an_editor_marked_as_utf_8_is_read(tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{"version": 1, "name": "kitchen"}', encoding="utf-8-sig")
    assert Profile.read(path).name == "kitchen"


def test_a_missing_profile_says_so(tmp_path):
    with pytest.raises(ProfileError, match="cannot be read: No such file"):
        Profile.read(tmp_path / "none.json")


def test_an_unwritable_profile_says_so(tmp_path):
    with pytest.raises(ProfileError, match="cannot be written"):
        Profile().write(tmp_path)


LENS = {"size": [640, 360], "focal": [450, 450], "centre": [320, 180], "distortion": [-0.3, 0.1, 0, 0, 0], "error": 0.2}


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"version": 2}, "lens.version"),
        ({"size": [640, 0]}, "lens.size.1"),
        ({"focal": [450, -1]}, "lens.focal.1"),
        ({"distortion": [0, 0]}, "lens.distortion.2"),
        ({"glass": "green"}, "lens.glass"),
    ],
)
def test_a_bad_lens_model_names_its_field(tmp_path, changed, field):
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"version": 1, "lens": LENS}))
    assert Profile.read(path).lens.focal == (450, 450)
    path.write_text(json.dumps({"version": 1, "lens": LENS | changed}))
    with pytest.raises(ProfileError, match=f"bad field '{field}'"):
        Profile.read(path)


def test_what_was_in_a_profile_stays_when_it_cannot_be_written_anew(tmp_path, monkeypatch):
    path = tmp_path / "p.json"
    Profile(name="old").write(path)

    def full(self, data):
        with self.open("wb") as file:
            file.write(data[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(ProfileError, match="cannot be written: No space left"):
        Profile(name="new").write(path)
    assert Profile.read(path).name == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["p.json"]


def test_a_link_to_a_profile_stays_a_link(tmp_path):
    Profile(name="old").write(tmp_path / "p.json")
    (tmp_path / "link.json").symlink_to("p.json")
    Profile(name="new").write(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert Profile.read(tmp_path / "p.json").name == "new"

"""What is written whole, or not at all."""

import os
import resource
import signal
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from calibration.kit import draw_kit
from companion.__main__ import main
from companion.files import try_to_write, write_whole

MATCH = "1. a1+ a3><\n"


@pytest.fixture
def full(monkeypatch):
    """A disk that takes five bytes."""

    def write_bytes(self, data):
        with self.open("wb") as file:
            file.write(data[:5])
        raise OSError(28, "No space left on device")

    return lambda: monkeypatch.setattr("pathlib.Path.write_bytes", write_bytes)


@pytest.mark.parametrize(
    "command",
    [
        ["matches", "export", "1", "--data", "{data}", "-o"],
        ["matches", "analyse", "{data}/game.mjn", "--svg"],
        ["kit", "-o"],
    ],
    ids=lambda command: command[1],
)
def test_what_was_in_a_file_stays_when_it_cannot_be_written_anew(tmp_path, full, command):
    game = tmp_path / "game.mjn"
    game.write_text(MATCH)
    CliRunner().invoke(main, ["matches", "import", str(game), "--data", str(tmp_path)])
    old = tmp_path / "out" / "old.pdf"
    old.parent.mkdir()
    old.write_bytes(draw_kit("a4"))
    before = old.read_bytes()
    full()
    result = CliRunner().invoke(main, [*(word.format(data=tmp_path) for word in command), str(old)])
    assert (result.exit_code, result.stderr) == (1, f"Error: {old} cannot be written: No space left on device\n")
    assert old.read_bytes() == before
    assert list(old.parent.iterdir()) == [old]


def test_a_file_keeps_who_may_read_it(tmp_path):
    file = tmp_path / "private"
    file.touch(mode=0o600)
    write_whole(file, "new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o600)


def test_a_link_stays_a_link_and_links_in_a_circle_are_told(tmp_path):
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError, match="symbolic links"):
        write_whole(tmp_path / "circle", "new")


def test_a_file_of_its_neighbours_name_stays(tmp_path):
    (tmp_path / ".y.new").write_text("mine")
    write_whole(tmp_path / "y", "new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {".y.new": "mine", "y": "new"}


def test_a_file_is_written_where_nobody_may_put_another_beside_it(tmp_path, monkeypatch):
    def touch(_path, **_told):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "y").write_text("old")
    monkeypatch.setattr("pathlib.Path.touch", touch)
    write_whole(tmp_path / "y", "new")
    assert (tmp_path / "y").read_text() == "new"
    with pytest.raises(PermissionError):
        write_whole(tmp_path / "z", "new")


def test_a_file_beside_which_nobody_may_put_another_keeps_what_it_had_where_the_disk_is_full(tmp_path, monkeypatch):
    """Before, it was cut down to nothing first, and then to what there was room for."""
    (file := tmp_path / "y").write_text("an old text, and a long one")
    monkeypatch.setattr("companion.files._fresh_beside", Mock(side_effect=PermissionError(13, "Permission denied")))
    size = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, size[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(file, "new " * 20)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, size)
        signal.signal(signal.SIGXFSZ, handler)
    assert file.read_text() == "an old text, and a long one"
    write_whole(file, "new")
    assert file.read_text() == "new"


def test_whether_a_file_may_be_written_is_told_and_nothing_is(tmp_path, monkeypatch):
    (tmp_path / "y").write_text("old")
    try_to_write(tmp_path / "y")
    try_to_write(tmp_path / "z")
    monkeypatch.setattr("companion.files._fresh_beside", Mock(side_effect=PermissionError(13, "Permission denied")))
    try_to_write(tmp_path / "y")
    with pytest.raises(PermissionError):
        try_to_write(tmp_path / "z")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"y": "old"}


def test_a_pipe_is_written_to_as_it_is():
    reading, writing = os.pipe()
    try_to_write(f"/dev/fd/{writing}")
    write_whole(f"/dev/fd/{writing}", "new")
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "new"


def test_a_file_is_on_the_disk_before_it_takes_its_name(tmp_path, monkeypatch):
    file, seen = tmp_path / "profile.json", []
    file.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda number: seen.append((file.read_text(), os.fstat(number).st_size)))
    write_whole(file, "the new one")
    assert seen == [("old", len("the new one"))]
    assert file.read_text() == "the new one"


@pytest.mark.parametrize(
    "command",
    [
        ["matches", "analyse", "/dev/zero"],
        ["matches", "import", "/dev/zero", "--data", "{data}"],
        ["read", "--profile", "/dev/zero", "{data}/1.jpg"],
        ["watch", "virtual:/dev/zero"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_what_has_no_end_is_no_text(tmp_path, command):
    """Before, it was read until no memory was left."""
    (tmp_path / "1.jpg").write_bytes(b"a picture")
    done = CliRunner().invoke(main, [part.replace("{data}", str(tmp_path)) for part in command])
    assert done.exit_code in {1, 2}
    assert "/dev/zero" in done.output
    assert "File too large" in done.output
    assert isinstance(done.exception, SystemExit)


def test_what_is_too_long_on_standard_input_is_refused_and_not_cut_off(monkeypatch):
    """Before, its beginning was taken for the whole."""
    monkeypatch.setattr("companion.files.LONGEST_TEXT", len(MATCH) - 1)
    done = CliRunner().invoke(main, ["matches", "analyse", "-"], input=MATCH)
    assert done.exit_code == 1
    assert "- cannot be read: File too large" in done.output

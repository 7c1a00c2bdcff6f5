"""``companion doctor``: it finds what is wrong, names the next step, and never falls over."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from companion.__main__ import main
from companion.camera import devices
from companion.commands import doctor
from companion.commands.keeping import open_log
from companion.rules import MatchText
from companion.tiles import ports
from tests.camera.devices import fake_system


class Port(NamedTuple):
    device: str
    description: str
    vid: int | None


def examine(*arguments: str) -> tuple[int, dict[str, dict]]:
    result = CliRunner().invoke(main, ["doctor", "--json", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, {finding["what"]: finding for finding in map(json.loads, result.stdout.splitlines())}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with nothing plugged in; its root folder."""
    root = tmp_path / "machine"
    fake_system(root, {})
    monkeypatch.setattr(devices.System.__init__, "__defaults__", (root,))
    monkeypatch.setattr(ports.list_ports, "comports", list)
    return root


def test_a_bare_machine_is_well_and_says_what_could_be_plugged_in(machine, tmp_path):
    code, findings = examine("--data", str(tmp_path / "new"))
    assert code == 0
    assert {finding["state"] for finding in findings.values()} == {"good", "note"}
    assert findings["cameras"]["next_step"].startswith("plug one in")
    assert "will be made" in findings[f"data folder {tmp_path / 'new'}"]["found"]
    assert not (tmp_path / "new").exists()


def test_a_tilde_names_the_home_folder(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert f"data folder {tmp_path}/games" in examine("--data", "~/games")[1]


def test_every_camera_is_told_with_who_holds_it(machine, tmp_path):
    fake_system(machine, {"video0": "Good camera", "video2": "Busy camera"}, {"cheese": "video2"})
    _, findings = examine("--data", str(tmp_path))
    assert findings[f"camera {machine}/dev/video0"]["found"] == "Good camera"
    busy = findings[f"camera {machine}/dev/video2"]
    assert busy["found"] == "Busy camera; in use by cheese (process 4711)"
    assert (busy["state"], busy["next_step"]) == ("note", "close that program before you play")


def test_what_one_may_not_use_names_the_group_to_join(machine, tmp_path, monkeypatch):
    fake_system(machine, {"video0": "A camera"})
    monkeypatch.setattr(ports.list_ports, "comports", lambda: [Port("/dev/ttyUSB0", "USB Serial", 0x1A86)])
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: False)  # root may everything: there is no other way
    code, findings = examine("--data", str(tmp_path))
    assert code == 1
    assert "usermod -aG video" in findings[f"camera {machine}/dev/video0"]["next_step"]
    assert "usermod -aG dialout" in findings["port /dev/ttyUSB0"]["next_step"]


def test_ports_tell_what_may_be_a_tile_board(machine, tmp_path, monkeypatch):
    told = [Port(str(machine / "b"), "Modem", 0x1234), Port(str(machine / "a"), "USB Serial", 0x1A86)]
    for port in told:
        Path(port.device).touch()
    monkeypatch.setattr(ports.list_ports, "comports", lambda: [*told, Port("/dev/ttyS0", "n/a", None)])
    _, findings = examine("--data", str(tmp_path))
    assert findings[f"port {machine}/a"]["found"].endswith("may be a tile board")
    assert findings[f"port {machine}/b"]["found"].endswith("does not look like a tile board")
    assert "port /dev/ttyS0" not in findings


def test_kept_matches_are_counted_and_damage_is_found(machine, tmp_path):
    with open_log(str(tmp_path)) as log:
        log.import_texts([MatchText.read("1. a1+ a3>< *")])
    assert examine("--data", str(tmp_path))[1]["match log"]["found"] == "1 match, all sound"
    with sqlite3.connect(tmp_path / "matches.sqlite3") as database:
        database.execute("UPDATE events SET link = replace(link, 'a1+', 'b1+')")
    database.close()
    code, findings = examine("--data", str(tmp_path))
    assert code == 1
    damaged = findings["match log"]
    assert damaged["found"] == "1 match, damaged: 1"
    assert "companion matches verify 1" in damaged["next_step"]


def test_a_log_that_may_not_be_written_to_is_bad(machine, tmp_path, monkeypatch):
    (tmp_path / "matches.sqlite3").touch()
    monkeypatch.setattr("companion.commands.doctor.os.access", lambda path, _: Path(path).suffix != ".sqlite3")
    code, found = examine("--data", str(tmp_path))
    assert code == 1
    assert "sudo chown $USER" in found[f"match log {tmp_path}/matches.sqlite3"]["next_step"]


def test_a_log_that_is_none_is_bad(machine, tmp_path):
    (tmp_path / "matches.sqlite3").write_bytes(b"no database at all" * 100)
    code, findings = examine("--data", str(tmp_path))
    assert code == 1
    assert "not a match log" in json.dumps(findings)


def test_a_full_disk_is_told(machine, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=5_000_000))
    code, findings = examine("--data", str(tmp_path))
    assert code == 1
    assert findings[f"data folder {tmp_path}"]["found"] == "only 5 MB are free"


def test_a_missing_system_library_names_the_package(machine, tmp_path, monkeypatch):
    def broken(name):
        raise ImportError("libGL.so.1: cannot open shared object file")

    monkeypatch.setattr(doctor.importlib, "import_module", broken)
    monkeypatch.setattr(doctor.ctypes.util, "find_library", lambda name: None if name == "GL" else name)
    findings = {finding.what: finding for finding in doctor.parts()}
    assert findings["opencv-python"].next_step == "sudo apt install libgl1"


def test_it_does_not_fall_over_what_nobody_thought_of(machine, tmp_path, monkeypatch):
    def surprise():
        raise RuntimeError("a driver without manners")

    monkeypatch.setattr(ports.list_ports, "comports", surprise)
    code, findings = examine("--data", str(tmp_path))
    assert code == 1
    assert findings["tile boards"]["found"] == "could not be examined: a driver without manners"
    assert f"data folder {tmp_path}" in findings


def test_people_read_one_line_for_each_finding_and_its_next_step(machine, tmp_path):
    told = CliRunner().invoke(main, ["doctor", "--data", str(tmp_path)]).stdout
    assert "  ok  python: 3." in told
    assert "note  cameras: none\n      next: plug one in" in told


def test_name_of_a_folder_that_is_no_text_is_told_as_it_is(machine, tmp_path):
    result = CliRunner().invoke(main, ["doctor", "--data", str(tmp_path / "bad\udcff")])
    assert isinstance(result.exception, SystemExit | None)
    assert b"bad\xff: will be made by the first match" in result.stdout_bytes


def test_nobody_is_told_to_take_over_a_folder_above_the_one_for_matches(machine, tmp_path, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    folder = tmp_path / "new" / "games"
    step = examine("--data", str(folder))[1][f"data folder {folder}"]["next_step"]
    assert step.endswith(f"sudo mkdir -p {folder} && sudo chown -R $USER {folder}")


def test_a_file_is_no_data_folder_and_nobody_is_told_to_own_it(machine, tmp_path):
    (tmp_path / "kit.pdf").write_text("")
    _, findings = examine("--data", str(tmp_path / "kit.pdf"))
    found = findings[f"data folder {tmp_path / 'kit.pdf'}"]
    assert (found["state"], found["next_step"]) == ("bad", "choose another folder with --data")


def test_a_database_that_is_not_there_yet_is_not_made_by_asking(machine, tmp_path):
    _, findings = examine("--data", f"sqlite:///{tmp_path / 'new.db'}")
    assert findings["match log"]["found"] == "will be made by the first match"
    assert not (tmp_path / "new.db").exists()

"""What `./start` and `./check` do before there is anything to start: `scripts/environment.sh`, run by bash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
LONG_S = 300.0
ADDED = "import site, sys; site.addsitedir(sys.argv[1]); print(ascii(sys.path[-1]))"
"""What Python does with each .pth file when it starts."""
SLOW_PYTHON = f"""#!{sys.executable}
import pathlib, sys, time
if "SLOW" in sys.argv:
    try:
        pathlib.Path("BEGUN").touch()
        time.sleep(600)
    except KeyboardInterrupt:
        sys.exit("ERROR: Operation cancelled by user")
"""
"""A Python that takes its time for one thing, and has its own word to say when it is stopped."""


@pytest.fixture
def bash(tool: Callable[[str], str]) -> list[str]:
    """The command that runs a line of bash, and the arguments of that line after it."""
    return [tool("bash"), "-c", 'source scripts/environment.sh; "$@"', "bash"]


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LC_ALL": "xx_XX.UTF-8"}, {"LANG": "C"}, {"LANG": "C.UTF-8"}])
def test_folder_with_any_letters_is_found_in_every_locale(
    bash: list[str], tmp_path: Path, locale: dict[str, str]
) -> None:
    folder = tmp_path / "Müllers Spiele"
    folder.mkdir()
    (tmp_path / "project.pth").write_text(str(folder), encoding="utf-8")
    plain = {
        name: value for name, value in os.environ.items() if name != "LANG" and not name.startswith(("LC_", "PYTHON"))
    }
    command = [*bash, sys.executable, "-c", ADDED, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=plain | locale, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == ascii(str(folder)), done.stderr


@pytest.mark.parametrize(("python", "slow"), [("bin/python3", "venv"), (".venv/bin/python", "install")])
def test_set_up_that_is_stopped_says_so_in_one_line(bash: list[str], tmp_path: Path, python: str, slow: str) -> None:
    for name in ("requirements/runtime.txt", "pyproject.toml", "bin/python3", python):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch(mode=0o755)
    begun = tmp_path / "begun"
    (tmp_path / python).write_text(SLOW_PYTHON.replace("BEGUN", str(begun)).replace("SLOW", slow))
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    setting_up = subprocess.Popen(
        [*bash, "make_environment", str(tmp_path), "runtime"],
        cwd=ROOT,
        env=os.environ | {"PATH": path},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(begun)
    os.killpg(setting_up.pid, signal.SIGINT)
    _, told = setting_up.communicate(timeout=LONG_S)
    assert told.splitlines()[1:] == ["Stopped; the next time it goes on from here"]
    assert setting_up.returncode == 130


def test_checks_that_are_stopped_do_not_say_that_they_will_go_on(tool: Callable[[str], str], tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    copy_with_a_set_up(tmp_path, "check")
    linter = tmp_path / ".venv/bin/ruff"
    linter.parent.mkdir(parents=True)
    linter.write_text(f"#!/bin/sh\ntouch '{begun}'\nexec sleep 600\n")
    linter.chmod(0o755)
    command = [tool("bash"), str(tmp_path / "check")]
    checking = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for(begun)
    os.killpg(checking.pid, signal.SIGINT)
    _, told = checking.communicate(timeout=LONG_S)
    assert told == ""
    assert checking.returncode != 0


@pytest.mark.parametrize("script", ["start", "check"])
def test_script_finds_its_folder_though_cd_says_where_it_goes(
    tool: Callable[[str], str], tmp_path: Path, script: str
) -> None:
    folder = tmp_path / "game"
    folder.mkdir()
    copy_with_a_set_up(folder, script)
    for name in ("companion", "ruff"):
        command = folder / ".venv/bin" / name
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text("#!/bin/sh\necho found >&2\nexit 3\n")
        command.chmod(0o755)
    done = subprocess.run(
        [tool("bash"), f"game/{script}"],
        cwd=tmp_path,
        env=os.environ | {"CDPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == "found\n"


def copy_with_a_set_up(folder: Path, script: str) -> None:
    """Copy `script` to where everything it needs is there."""
    (folder / script).write_text((ROOT / script).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "scripts").mkdir()
    environment = (ROOT / "scripts/environment.sh").read_text(encoding="utf-8")
    there = "require_python() { :; }\nhave_packages() { :; }\nmake_environment() { :; }\n"
    (folder / "scripts/environment.sh").write_text(environment + there, encoding="utf-8")


def wait_for(file: Path) -> None:
    """Wait until `file` is there."""
    until = time.monotonic() + LONG_S
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.01)

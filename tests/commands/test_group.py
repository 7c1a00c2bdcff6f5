"""The command line as a whole: what it could not do is one line, whatever was asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.__main__ import main

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize("asked", ["--help", "--version", "kit --help", "doctor"])
def test_full_disk_behind_standard_output_is_told_in_one_line(asked):
    command = [sys.executable, "-m", "companion", *asked.split()]
    with FULL.open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == "Error: there is no room left for what is written; make room, and try again\n"
    assert done.returncode == 1


USED_UP = """
import errno, sys
from companion.__main__ import main
def write(text):
    raise OSError(errno.EDQUOT, "Disk quota exceeded")
sys.stdout.write = write
main(["--version"])
"""


def test_room_that_is_used_up_for_one_person_is_told_as_a_full_disk_is():
    done = subprocess.run([sys.executable, "-c", USED_UP], capture_output=True, text=True, check=False)
    assert done.stderr == "Error: there is no room left for what is written; make room, and try again\n"
    assert done.returncode == 1


@pytest.mark.parametrize("group", ["", "matches", "calibrate"])
def test_help_says_of_every_command_what_it_does_to_the_end(group):
    told = CliRunner().invoke(main, [*group.split(), "--help"]).output
    commands = told.partition("Commands:\n")[2]
    assert commands
    assert "..." not in commands

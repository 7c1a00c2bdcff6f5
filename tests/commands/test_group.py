"""The command line as a whole: what it could not do is one line, whatever was asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize("asked", ["--help", "--version", "kit --help", "doctor"])
def test_full_disk_behind_standard_output_is_told_in_one_line(asked):
    command = [sys.executable, "-m", "companion", *asked.split()]
    with FULL.open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == "Error: there is no room left for what is written; make room, and try again\n"
    assert done.returncode == 1

"""The simulated board is built once for all who ask for it."""

import subprocess

import pytest

from tests.firmware.simulated import FIRMWARE, SimulatedBoard, Speaker


@pytest.fixture(scope="session")
def simulator(tool):
    """Build the simulator; skip without it, but not in CI."""
    for name in ("make", "cc"):
        tool(name)
    made = subprocess.run(["make", "-C", FIRMWARE, "simulator"], check=False, capture_output=True, text=True)
    if "simavr/" in made.stderr or "-lsimavr" in made.stderr:
        tool("libsimavr-dev")
    assert made.returncode == 0, made.stderr
    return SimulatedBoard


@pytest.fixture
def board(simulator):
    """A board of 16 squares, just powered."""
    with simulator() as made:
        yield made


@pytest.fixture
def speaker(board):
    """A host beside a board that has started."""
    made = Speaker(board)
    made.start()
    return made

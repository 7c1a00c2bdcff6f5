"""What every frame source keeps to, whatever its pictures come from."""

from __future__ import annotations

import itertools
import time

import cv2
import numpy as np
import pytest

from companion.camera import open_frames
from companion.camera.devices import open_camera
from companion.camera.virtual import VirtualCamera
from companion.errors import EndOfSource
from tests.camera.devices import FakeDriver, Noise, fake_system
from tests.camera.server import CameraServer

PATIENCE_S = 20.0
"""How long a test waits for what should come at once, so that a slow machine fails no test."""


@pytest.fixture
def video(tmp_path):
    path = tmp_path / "short.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, (64, 48))
    for grey in (50, 100, 150, 200):
        writer.write(np.full((48, 64, 3), grey, np.uint8))
    writer.release()
    return lambda: open_frames(f"video:{path}", time.monotonic), f"video:{path}"


@pytest.fixture
def images(tmp_path):
    for name, grey in (("2.png", 100), ("10.png", 200), ("1.png", 50)):
        cv2.imwrite(str(tmp_path / name), np.full((48, 64, 3), grey, np.uint8))
    return lambda: open_frames(f"images:{tmp_path}", time.monotonic), f"images:{tmp_path}"


@pytest.fixture
def virtual(tmp_path):
    match = tmp_path / "one move.mjn"
    match.write_text("1. a1+ *\n")
    return lambda: open_frames(f"virtual:{match}", time.monotonic), f"virtual:{match}"


@pytest.fixture
def played():
    return lambda: VirtualCamera("", time.monotonic, time.sleep), "virtual:"


@pytest.fixture
def camera(tmp_path):
    system = fake_system(tmp_path, {"video0": "A camera"})
    driver = FakeDriver(Noise())
    return lambda: open_camera("0", time.monotonic, system=system, driver=driver), "camera:0"


@pytest.fixture
def stream():
    with CameraServer() as server:
        yield lambda: open_frames(server.address, time.monotonic), server.address


FILES = ("video", "images", "virtual")
LIVE = ("played", "camera", "stream")


@pytest.fixture(params=FILES + LIVE)
def source(request):
    """How to open it, and the text that stands for it."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=FILES)
def file(request):
    return request.getfixturevalue(request.param)


def some_frames(frames, most=200):
    """What comes until the end, or the first few of a live source."""
    found = []
    deadline = time.monotonic() + PATIENCE_S
    try:
        while len(found) < (4 if frames.live else most):
            assert time.monotonic() < deadline
            frame = frames.read(0.5)
            found += [frame] if frame else []
    except EndOfSource:
        pass
    return found


def test_a_source_knows_its_text_and_whether_it_lives_by_the_clock(source, request):
    opener, text = source
    frames = opener()
    assert frames.name == text
    assert frames.live == (request.node.callspec.params["source"] in LIVE)
    frames.close()


def test_frames_are_colour_pictures_and_their_time_only_rises(source):
    frames = source[0]()
    taken = some_frames(frames)
    frames.close()
    assert len(taken) > 3
    assert all(frame.image.dtype == np.uint8 and frame.image.shape[2:] == (3,) for frame in taken)
    assert all(before.time < after.time for before, after in itertools.pairwise(taken))


def test_closing_twice_is_harmless(source):
    frames = source[0]()
    frames.close()
    frames.close()


def test_a_file_begins_at_zero_and_is_the_same_every_time(file):
    first, second = some_frames(file[0]()), some_frames(file[0]())
    assert first[0].time == 0
    assert [frame.time for frame in first] == [frame.time for frame in second]
    assert all(np.array_equal(a.image, b.image) for a, b in zip(first, second, strict=True))


def test_a_file_that_has_ended_stays_ended(file):
    frames = file[0]()
    some_frames(frames)
    for _ in range(2):
        with pytest.raises(EndOfSource):
            frames.read(0)

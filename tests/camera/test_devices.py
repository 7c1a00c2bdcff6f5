"""Cameras that are plugged in: what is wrong with one is said in words, and it comes back by itself."""

from __future__ import annotations

import contextlib
import os
import queue
import time

import numpy as np
import pytest

from companion.camera.devices import open_camera
from companion.camera.live import LOST_S, LiveFrames
from companion.errors import SourceError
from tests.camera.devices import FakeDriver, Noise, fake_system, plug_in, plug_out

PATIENCE_S = 20.0
"""How long a test waits for what should come at once, so that a slow machine fails no test."""
STEP_S = 0.25


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """A camera, its driver, and the clock it is watched by."""

    def __init__(self, root) -> None:
        self.root = root
        self.clock = Clock()
        self.driver = FakeDriver(Noise())
        self.system = fake_system(root, {"video0": "A camera"})
        self.frames = open_camera("0", self.clock, system=self.system, driver=self.driver)

    def picture(self):
        """A picture that is taken after this is asked."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            asked = self.clock.now = self.clock.now + 0.01
            frame = self.frames.read(0.05)
            if frame is not None and frame.time >= asked:
                return frame
        raise AssertionError("no picture comes")

    def lost_after(self) -> tuple[float, str]:
        """After how many seconds of its clock the source is said to be lost, and why."""
        began = self.clock.now
        while True:
            assert self.clock.now - began < 10
            self.driver.wait_for_looks(2)
            try:
                if self.frames.read(0) is not None:
                    began = self.clock.now
            except SourceError as error:
                return self.clock.now - began, str(error)
            self.clock.now += STEP_S

    def comes_back(self) -> bool:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                if self.frames.read(0.05) is not None:
                    return True
            except SourceError:
                pass
        return False


@pytest.fixture
def bench(tmp_path):
    bench = Bench(tmp_path)
    yield bench
    bench.frames.close()


STILL = np.full((48, 64, 3), 77, np.uint8)
DARKNESS = Noise(0)


def hold(bench: Bench, program: str) -> None:
    fake_system(bench.root, {}, {program: "video0"})


TROUBLES = {
    "silence": (lambda bench: setattr(bench.driver, "picture", lambda: None), "sends no pictures"),
    "freezing": (lambda bench: setattr(bench.driver, "picture", lambda: STILL), "frozen"),
    "blackness": (lambda bench: setattr(bench.driver, "picture", DARKNESS), "black"),
    "unplugging": (lambda bench: plug_out(bench.root, "video0"), "there is no camera"),
    "another program": (
        lambda bench: (hold(bench, "cheese"), setattr(bench.driver, "picture", lambda: None)),
        "in use by cheese (process 4711)",
    ),
}


@pytest.mark.parametrize(("trouble", "says"), TROUBLES.values(), ids=TROUBLES)
def test_a_camera_in_trouble_is_lost_within_two_seconds_and_comes_back(bench, trouble, says):
    bench.picture()
    trouble(bench)
    after_s, why = bench.lost_after()
    assert after_s < LOST_S + 2 * STEP_S <= 2
    assert why.startswith("camera:0: ")
    assert "\n" not in why
    assert says in why or says in bench.lost_after()[1]
    plug_in(bench.root, "video0")
    bench.driver.picture = Noise()
    assert bench.comes_back()


def test_a_picture_that_is_frozen_on_the_next_connection_too_is_no_new_one(bench):
    bench.picture()
    bench.driver.picture = lambda: STILL
    bench.lost_after()
    opened = len(bench.driver.devices)
    given = []
    deadline = time.monotonic() + PATIENCE_S
    while len(bench.driver.devices) < opened + 2 and time.monotonic() < deadline:
        bench.clock.now += STEP_S
        bench.driver.wait_for_looks(2)
        with contextlib.suppress(SourceError):
            given.append(bench.frames.read(0))
    assert len(bench.driver.devices) >= opened + 2
    assert not [frame for frame in given if frame is not None]
    bench.driver.picture = Noise()
    assert bench.comes_back()


def test_a_camera_is_known_again_under_another_number(bench):
    bench.picture()
    plug_out(bench.root, "video0")
    bench.lost_after()
    plug_in(bench.root, "video3")
    assert bench.comes_back()


def test_only_the_newest_picture_is_kept(bench):
    bench.picture()
    bench.driver.wait_for_looks(5)
    bench.clock.now += 5
    assert bench.picture().time >= 105


class Slow:
    """A device that has a picture only when it is told to take one."""

    def __init__(self) -> None:
        self._picture = Noise()
        self._taken = queue.Queue()
        self._given = False

    def take(self, picture=None) -> None:
        """Take one, and wait until it was looked at."""
        self._taken.put((picture or self._picture)())
        self._taken.join()

    def grab(self):
        if self._given:
            self._taken.task_done()
        self._given = False
        try:
            taken = self._taken.get(timeout=0.02)
        except queue.Empty:
            return None
        self._given = True
        return taken

    def close(self) -> None:
        pass


def test_a_slow_camera_is_lost_only_when_it_is_late_for_its_own_pace():
    clock, device = Clock(), Slow()
    with LiveFrames("slow", lambda: device, clock) as frames:
        for _ in range(2):
            device.take()
            assert frames.read(PATIENCE_S) is not None
            clock.now += 2 * LOST_S
        assert frames.read(0) is None
        clock.now += 4 * LOST_S
        with pytest.raises(SourceError, match="slow: it sends no pictures"):
            frames.read(0)


def test_a_camera_that_sends_several_pictures_at_once_and_then_none_for_a_while_is_not_lost():
    clock, device = Clock(), Slow()
    with LiveFrames("in bursts", lambda: device, clock) as frames:
        for pause_s in (0.9 * LOST_S, 2 * LOST_S, 2 * LOST_S):
            for _ in range(4):
                device.take()
                assert frames.read(PATIENCE_S) is not None
            clock.now += pause_s
            assert frames.read(0) is None


def test_how_long_it_was_dark_tells_nothing_of_the_pace_of_a_camera():
    clock, device, darkness = Clock(), Slow(), Noise(0)
    with LiveFrames("covered", lambda: device, clock) as frames:
        device.take()
        assert frames.read(PATIENCE_S) is not None
        for _ in range(10):
            clock.now += LOST_S
            device.take(darkness)
            with pytest.raises(SourceError, match="its picture is black"):
                frames.read(0)
        device.take()
        assert frames.read(PATIENCE_S) is not None
        clock.now += 4 * LOST_S
        with pytest.raises(SourceError, match="covered: it sends no pictures"):
            frames.read(0)


def test_closing_ends_the_thread_and_lets_go_of_the_device(bench):
    bench.picture()
    bench.frames.close()
    assert not bench.frames._thread.is_alive()
    assert all(device.released for device in bench.driver.devices)


def test_a_thread_that_dies_says_so(bench, caplog):
    bench.picture()

    def fail():
        raise RuntimeError("the driver is broken")

    bench.driver.picture = fail
    bench.frames._thread.join(PATIENCE_S)
    bench.frames._newest = None  # the last picture may still be there to read
    with pytest.raises(SourceError, match="the driver is broken; start the program again"):
        bench.frames.read(0)
    assert "has died" in caplog.text


@pytest.mark.parametrize(
    ("which", "says"),
    [
        ("1", "there is no camera {dev}/video1; cameras here: {dev}/video0, Good camera; {dev}/video2, Other"),
        ("{dev}/video9", "there is no camera {dev}/video9; cameras here"),
        ("kitchen", "camera:kitchen names no camera; write camera:0, or camera:/dev/video0"),
        ("{dev}/" + 999 * "video", "camera:{dev}/video"),
        ("0", "{dev}/video0 is in use by Zoom (process 4711), cheese (process 4712); close that program"),
        ("2", "{dev}/video2 cannot be opened as a camera; try another, or plug it in anew"),
    ],
)
def test_a_camera_that_cannot_be_opened_is_refused_with_advice(tmp_path, which, says):
    cameras = {"video0": "Good camera", "video2": "Other"}
    system = fake_system(tmp_path, cameras, {"Zoom": "video0", "cheese": "video0"})
    driver = FakeDriver(Noise(), opens=False)
    with pytest.raises(SourceError) as refused:
        open_camera(which.format(dev=tmp_path / "dev"), Clock(), system=system, driver=driver)
    assert str(refused.value).startswith(says.format(dev=tmp_path / "dev"))


def test_a_camera_that_is_not_there_yet_is_waited_for_by_the_patient(tmp_path):
    clock, system = Clock(), fake_system(tmp_path, {})
    frames = open_camera("0", clock, patient=True, system=system, driver=FakeDriver(Noise()))
    clock.now += LOST_S
    with pytest.raises(SourceError, match=r"camera:0: .*(there is no camera|it sends no pictures)"):
        frames.read(0)
    plug_in(tmp_path, "video0")
    assert first_picture(frames) is not None
    frames.close()


def first_picture(frames):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with contextlib.suppress(SourceError):
            frame = frames.read(0.05)
            if frame is not None:
                return frame
    return None


def test_no_camera_at_all_is_said(tmp_path):
    with pytest.raises(SourceError, match="cameras here: none; plug one in"):
        open_camera("0", Clock(), system=fake_system(tmp_path, {}))


def test_a_camera_that_one_may_not_use_says_which_group_to_join(tmp_path, monkeypatch):
    system = fake_system(tmp_path, {"video0": "A camera"})
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may everything: there is no other way
    with pytest.raises(SourceError, match=r"may not be used by you; .*usermod -aG video"):
        open_camera("0", Clock(), system=system)


def test_device_files_that_give_no_pictures_are_no_cameras(tmp_path):
    system = fake_system(tmp_path, {"video0": "A camera", "video1": "A camera", "video10": "Late", "video2": "Early"})
    (tmp_path / "sys/class/video4linux/video1/index").write_text("1\n")
    assert [camera.path.name for camera in system.cameras()] == ["video0", "video2", "video10"]

"""A machine with cameras, told: device files, their drivers, and the programs that hold them."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np

from companion.camera.devices import System


def fake_system(root: Path, cameras: dict[str, str], holders: dict[str, str] | None = None) -> System:
    """Device files under `root`; `holders` tells for each program (``cheese``) the device it holds."""
    for folder in ("dev/v4l/by-id", "sys/class/video4linux", "proc"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for device, name in cameras.items():
        plug_in(root, device, name)
    for number, (program, device) in enumerate((holders or {}).items(), start=4711):
        (root / f"proc/{number}/fd").mkdir(parents=True)
        (root / f"proc/{number}/comm").write_text(program + "\n")
        (root / f"proc/{number}/fd/7").symlink_to(root / "dev" / device)
    return System(root)


def plug_in(root: Path, device: str, name: str = "A camera") -> None:
    (root / "dev" / device).touch()
    known = root / "sys/class/video4linux" / device
    known.mkdir(exist_ok=True)
    (known / "name").write_text(name + "\n")
    (known / "index").write_text("0\n")
    link = root / "dev/v4l/by-id" / f"usb-{name.replace(' ', '_')}-video-index0"
    link.unlink(missing_ok=True)
    link.symlink_to(root / "dev" / device)


def plug_out(root: Path, device: str) -> None:
    (root / "dev" / device).unlink()


PAUSE = threading.Event()
"""Never set: waiting for it is how a pretended device takes its time."""


class Noise:
    """What a sensor shows: never the same twice."""

    def __init__(self, brightness: int = 120) -> None:
        self._rng = np.random.default_rng(1)
        self._brightness = brightness

    def __call__(self) -> np.ndarray:
        return self._rng.integers(self._brightness, self._brightness + 9, (48, 64, 3)).astype(np.uint8)


class FakeDriver:
    """Opens devices that show what `picture` gives; None is silence. Stands for `cv2.VideoCapture`."""

    def __init__(self, picture, *, opens: bool = True) -> None:
        self.picture = picture
        self.opens = opens
        self.devices: list[FakeDevice] = []
        self._looks = 0
        self._looked = threading.Condition()

    def __call__(self, handle):
        self.devices.append(FakeDevice(self, Path(handle)))
        return self.devices[-1]

    def look(self):
        with self._looked:
            self._looks += 1
            self._looked.notify_all()
        return self.picture()

    def wait_for_looks(self, more: int) -> None:
        """Until so many more pictures were asked for, or as long as a camera is left alone that cannot be opened."""
        with self._looked:
            enough = self._looks + more
            self._looked.wait_for(lambda: self._looks >= enough, 0.6)


class FakeDevice:
    def __init__(self, driver: FakeDriver, path: Path) -> None:
        self._driver, self._path = driver, path
        self.released = False

    def isOpened(self) -> bool:  # noqa: N802
        return self._driver.opens and self._path.exists()

    def read(self):
        assert not self.released
        PAUSE.wait(0.005)
        image = self._driver.look() if self._path.exists() else None
        return image is not None, image

    def release(self) -> None:
        self.released = True

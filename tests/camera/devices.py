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
        self.opened: list[str] = []
        self.tick = threading.Event()

    def __call__(self, handle):
        self.opened.append(handle)
        return FakeDevice(self, Path(handle))


class FakeDevice:
    def __init__(self, driver: FakeDriver, path: Path) -> None:
        self._driver, self._path = driver, path
        self.released = False

    def isOpened(self) -> bool:  # noqa: N802
        return self._driver.opens and self._path.exists()

    def read(self):
        assert not self.released
        self._driver.tick.wait(0.01)
        image = self._driver.picture() if self._path.exists() else None
        return image is not None, image

    def release(self) -> None:
        self.released = True

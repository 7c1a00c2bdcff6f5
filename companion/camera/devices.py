"""``camera:0``, ``camera:/dev/video2``: cameras that are plugged into this machine.

On Linux a camera is found by its name even if it comes back under another number, and when it cannot be used the
kernel's files tell why: there is none, one may not use it, or another program holds it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import cv2
import numpy as np

from companion.address import shown
from companion.camera.live import LiveFrames
from companion.errors import SourceError, SourceSyntaxError
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from companion.camera.frames import Clock

WIDTH, HEIGHT = 1280, 720
"""What is asked of a camera; it may answer with another size."""
_FIRST_TRIES = 5


@dataclass(frozen=True, slots=True)
class System:
    """Where the kernel tells of devices and processes; another folder stands in for it in tests."""

    root: Path = Path("/")

    @property
    def dev(self) -> Path:
        """The device files."""
        return self.root / "dev"

    def cameras(self) -> list[CameraFile]:
        """Every camera that gives pictures, by number.

        Many have a second device file for other data; it is left out.
        """
        found = []
        for path in sorted(self.dev.glob("video[0-9]*"), key=lambda path: int(path.name[5:])):
            known = self.root / "sys/class/video4linux" / path.name
            if _line(known / "index") in ("", "0"):
                found.append(CameraFile(path, _line(known / "name")))
        return found

    def lasting_name(self, path: Path) -> Path:
        """The name of a device that stays the same when it is plugged in anew; `path` itself where it has none."""
        try:
            links = sorted((self.dev / "v4l/by-id").iterdir())
            return next((link for link in links if link.resolve() == path.resolve()), path)
        except OSError:
            return path

    def holders(self, path: Path) -> list[str]:
        """The programs that hold a device open, as far as one may know: ``cheese (process 4711)``."""
        device, own = path.resolve(), str(os.getpid())
        processes = sorted((self.root / "proc").glob("[0-9]*"), key=lambda entry: int(entry.name))
        return [
            f"{_line(process / 'comm') or 'a program'} (process {process.name})"
            for process in processes
            if process.name != own and _holds(process, device)
        ]


@dataclass(frozen=True, slots=True)
class CameraFile:
    """A camera that the kernel knows."""

    path: Path
    name: str
    """As its maker called it; may be empty."""

    def __str__(self) -> str:
        return f"{self.path}, {self.name}" if self.name else str(self.path)


class VideoDevice(Protocol):
    """What is used of `cv2.VideoCapture`."""

    def isOpened(self) -> bool: ...  # noqa: N802, D102

    def read(self) -> tuple[bool, Any]: ...  # noqa: D102

    def release(self) -> None: ...  # noqa: D102


def open_camera(
    which: str,
    clock: Clock,
    *,
    patient: bool = False,
    system: System | None = None,
    driver: Callable[[str | int], VideoDevice] | None = None,
) -> LiveFrames:
    """A camera by its number or device file.

    Args:
        which: ``0``, or ``/dev/video2``.
        clock: monotonic seconds.
        patient: wait for a camera that is not there yet.
        system: where devices are looked up.
        driver: opens a device; OpenCV's by default.

    Raises:
        SourceSyntaxError: if `which` names no camera.
        SourceError: if it cannot be used; the message says why and what to do.
    """
    system = system or System()
    path = _device_file(which, system)
    lasting = system.lasting_name(path)

    def capture() -> DeviceCapture:
        return DeviceCapture(lasting if lasting.exists() else path, system, driver or _driver)

    return LiveFrames(f"camera:{which}", capture, clock, patient=patient)


class DeviceCapture:
    """A camera device that has been opened.

    Raises:
        SourceError: if it cannot be.
    """

    def __init__(self, path: Path, system: System, driver: Callable[[str | int], VideoDevice]) -> None:
        _refuse_unusable(path, system)
        self._path, self._system = path.resolve(), system
        self._device = driver(_handle(self._path))
        if not self._device.isOpened():
            self._device.release()
            raise SourceError(self._why_closed())
        self._tries = _FIRST_TRIES

    def grab(self) -> NDArray[np.uint8]:
        """The next picture; see `companion.camera.live.Capture`."""
        while True:
            there, image = self._read()
            if there:
                self._tries = 1
                return np.asarray(image, np.uint8)
            self._tries -= 1
            if not self._tries:
                raise SourceError(self._why_silent())

    def close(self) -> None:
        """Let go of the device."""
        self._device.release()

    def _read(self) -> tuple[bool, Any]:
        try:
            return self._device.read()
        except cv2.error as error:
            raise SourceError(Saying("%(path)s cannot be read: %(why)s", path=self._path, why=error)) from error

    def _why_closed(self) -> str:
        return self._held() or Saying(
            "%(path)s cannot be opened as a camera; try another, or plug it in anew", path=self._path
        )

    def _why_silent(self) -> str:
        if not self._path.exists():
            return Saying("%(path)s is gone: plug the camera in again", path=self._path)
        return self._held() or Saying("%(path)s sends no pictures; plug it out and in again", path=self._path)

    def _held(self) -> str:
        holders = self._system.holders(self._path)
        if not holders:
            return ""
        return Saying(
            "%(path)s is in use by %(programs)s; close that program", path=self._path, programs=", ".join(holders)
        )


def _device_file(which: str, system: System) -> Path:
    if which.isdecimal():
        return system.dev / f"video{which}"
    path = Path(which)
    if not path.is_absolute() or not _may_be_looked_up(path):
        raise SourceSyntaxError(f"camera:{shown(which)} names no camera; write camera:0, or camera:/dev/video0")
    return path


def _may_be_looked_up(path: Path) -> bool:
    try:
        path.exists()
    except OSError:
        return False
    return True


def _refuse_unusable(path: Path, system: System) -> None:
    """Say why a device cannot be used, as far as the file system knows."""
    if not sys.platform.startswith("linux"):
        return
    if not path.exists():
        there = "; ".join(map(str, system.cameras())) or Saying("none; plug one in")
        raise SourceError(Saying("there is no camera %(path)s; cameras here: %(cameras)s", path=path, cameras=there))
    if not os.access(path, os.R_OK | os.W_OK):
        raise SourceError(
            Saying(
                "%(path)s may not be used by you; join its group with: %(command)s, and log in again",
                path=path,
                command="sudo usermod -aG video $USER",
            )
        )


def _handle(path: Path) -> str | int:
    """What OpenCV wants: the device file on Linux, its number elsewhere."""
    return str(path) if sys.platform.startswith("linux") else _number(path)


def _number(path: Path) -> int:
    number = path.name.removeprefix("video")
    if not number.isdecimal():
        raise SourceSyntaxError(
            Saying("%(path)s is no camera here; name it by its number, such as camera:0", path=path)
        )
    return int(number)


def _driver(handle: str | int) -> VideoDevice:
    device = cv2.VideoCapture(handle, cv2.CAP_V4L2) if isinstance(handle, str) else cv2.VideoCapture(handle)
    device.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
    device.set(cv2.CAP_PROP_FRAME_WIDTH, WIDTH)
    device.set(cv2.CAP_PROP_FRAME_HEIGHT, HEIGHT)
    device.set(cv2.CAP_PROP_BUFFERSIZE, 1)
    return device


def _holds(process: Path, device: Path) -> bool:
    try:
        return any(entry.resolve() == device for entry in (process / "fd").iterdir())
    except OSError:  # it has ended meanwhile, or belongs to somebody else
        return False


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""

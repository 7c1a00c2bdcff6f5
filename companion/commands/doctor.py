"""``companion doctor``: what works on this machine, and the next step for what does not.

Each check is on its own, and one that fails in a way that nobody thought of is a finding like any other: this command
is for machines on which things go wrong.
"""

from __future__ import annotations

import ctypes.util
import importlib
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from dataclasses import asdict, dataclass
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion import __version__
from companion.commands.keeping import data_option, open_log
from companion.commands.output import json_option, print_json
from companion.errors import CompanionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OLDEST_PYTHON = (3, 11)
_LEAST_FREE_MB = 200
_LIBRARIES = {"GL": "libgl1", "glib-2.0": "libglib2.0-0"}
"""What opencv-python needs of the system, and the Debian package that brings it."""
_PARTS = {"opencv-python": "cv2", "numpy": "numpy", "flask": "flask", "sqlalchemy": "sqlalchemy", "pyserial": "serial"}
"""Packages, and the module by which each is imported."""


class State(Enum):
    """How bad a finding is."""

    GOOD = "good"
    NOTE = "note"
    """Something that some need and others do not."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    next_step: str = ""
    """What to do; empty where nothing has to be done."""


@click.command()
@data_option
@json_option
@click.pass_context
def doctor(ctx: click.Context, data: str, *, as_json: bool) -> None:
    """See what works here: versions, cameras, ports, the data folder; and the next step for what does not.

    The exit code is 1 if something has to be done before a game can be refereed and kept.
    """
    checks: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("system", system),
        ("parts", parts),
        ("cameras", cameras),
        ("tile boards", ports),
        ("data folder", lambda: data_folder(data)),
    )
    bad = False
    for what, check in checks:
        for finding in examined(what, check):
            bad |= finding.state is State.BAD
            _tell(finding, as_json=as_json)
    if bad:
        ctx.exit(1)


def examined(what: str, check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """The findings of a check, whatever happens in it."""
    try:
        yield from check()
    except Exception as fault:  # noqa: BLE001 (a doctor does not fall over what he finds)
        yield Finding(what, State.BAD, f"could not be examined: {fault}", "tell the makers of this program")


def system() -> Iterator[Finding]:
    """The program, Python, and the machine."""
    yield Finding("program", State.GOOD, f"mijnlieff-companion {__version__}")
    version = platform.python_version()
    if sys.version_info[:2] >= OLDEST_PYTHON:
        yield Finding("python", State.GOOD, version)
    else:
        newest = ".".join(map(str, OLDEST_PYTHON))
        yield Finding("python", State.BAD, version, f"install Python {newest} or newer")
    machine = f"{platform.system()} {platform.release()}, {platform.machine()}"
    if sys.maxsize > 2**32:
        yield Finding("system", State.GOOD, f"{machine}, 64-bit")
    else:
        yield Finding("system", State.BAD, f"{machine}, 32-bit", "install a 64-bit system; OpenCV comes for no other")


def parts() -> Iterator[Finding]:
    """The packages that this program stands on, and what they need of the system."""
    yield Finding("SQLite", State.GOOD, sqlite3.sqlite_version)
    for name, module in _PARTS.items():
        try:
            importlib.import_module(module)
        except ImportError as error:
            yield Finding(name, State.BAD, f"cannot be used: {error}", _step_for(error))
        else:
            yield Finding(name, State.GOOD, metadata.version(name))


def _step_for(error: ImportError) -> str:
    if isinstance(error, ModuleNotFoundError):
        return "install this program's packages anew: where ./start made .venv, delete that folder, and run ./start"
    missing = [package for library, package in _LIBRARIES.items() if ctypes.util.find_library(library) is None]
    return f"sudo apt install {' '.join(missing or _LIBRARIES.values())}"


def cameras() -> Iterator[Finding]:
    """Every camera, whether one may use it, and who does."""
    from companion.camera.devices import System  # noqa: PLC0415 (OpenCV may be what is broken)

    if not sys.platform.startswith("linux"):
        yield Finding("cameras", State.NOTE, "only looked for on Linux", "try companion run --source camera:0")
        return
    here = System()
    found = here.cameras()
    if not found:
        yield Finding("cameras", State.NOTE, "none", "plug one in, or use the stream of another: --source http://…")
    for camera in found:
        if not os.access(camera.path, os.R_OK | os.W_OK):
            step = "sudo usermod -aG video $USER, and log in again"
            yield Finding(f"camera {camera.path}", State.BAD, f"{camera.name}; you may not use it", step)
        elif holders := here.holders(camera.path):
            used = f"{camera.name}; in use by {', '.join(holders)}"
            yield Finding(f"camera {camera.path}", State.NOTE, used, "close that program before you play")
        else:
            yield Finding(f"camera {camera.path}", State.GOOD, camera.name or "ready")


def ports() -> Iterator[Finding]:
    """Every serial port that a tile board could be on, and whether one may use it."""
    from companion.tiles.ports import ARDUINO_VENDORS, lasting_name, usb_ports  # noqa: PLC0415 (may be broken)

    found = usb_ports()
    if not found:
        yield Finding("tile boards", State.NOTE, "no USB serial port", "plug the board in, if you have one")
    for port in found:
        told = f"{port.description}, {lasting_name(port.device)}"
        if not os.access(port.device, os.R_OK | os.W_OK) and sys.platform.startswith("linux"):
            step = "sudo usermod -aG dialout $USER, and log in again"
            yield Finding(f"port {port.device}", State.BAD, f"{told}; you may not use it", step)
        elif port.vid in ARDUINO_VENDORS:
            yield Finding(f"port {port.device}", State.GOOD, f"{told}; may be a tile board")
        else:
            yield Finding(f"port {port.device}", State.NOTE, f"{told}; does not look like a tile board")


def data_folder(data: str) -> Iterator[Finding]:
    """Whether matches can be kept, and whether those that are kept are sound."""
    from companion.store import FILE_NAME, is_there  # noqa: PLC0415 (the database may be what is broken)

    if "://" not in data:
        yield from _folder(f"data folder {data}", Path(data))
        yield from _own(Path(data) / FILE_NAME)
    if not is_there(data):
        if "://" in data:
            yield Finding("match log", State.NOTE, "will be made by the first match")
        return
    try:
        with open_log(data, create=False) as log:
            matches = log.matches()
            broken = [match.id for match in matches if not log.verify(match.id).sound]
    except CompanionError as error:
        yield Finding("match log", State.BAD, str(error), "choose another folder with --data, or mend this one")
        return
    kept = "1 match" if len(matches) == 1 else f"{len(matches)} matches"
    if broken:
        numbers = ", ".join(map(str, broken))
        step = f"companion matches verify {broken[0]} tells more; put a backup in its place"
        yield Finding("match log", State.BAD, f"{kept}, damaged: {numbers}", step)
    else:
        yield Finding("match log", State.GOOD, f"{kept}, all sound")


def _own(file: Path) -> Iterator[Finding]:
    """Whether the log that is there can be written to."""
    if _is_there(file) and not os.access(file, os.W_OK):
        step = f"make it yours: sudo chown $USER {file} && chmod u+w {file}"
        yield Finding(f"match log {file}", State.BAD, "may not be written to", step)


def _is_there(path: Path) -> bool:
    """Whether a file or folder is there, as far as one may look."""
    try:
        return path.exists()
    except OSError:
        return False


def _folder(where: str, folder: Path) -> Iterator[Finding]:
    """Whether a folder, or the one it will be made in, can be written to, and how much goes into it."""
    there = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if _is_there(parent))
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        step = "choose another folder with --data"
        if isinstance(error, PermissionError):
            made = "" if there == folder.absolute() else f"sudo mkdir -p {folder} && "
            step += f", or make this one yours: {made}sudo chown -R $USER {folder}"
        yield Finding(where, State.BAD, f"{there} cannot be written to: {error.strerror}", step)
        return
    free_mb = shutil.disk_usage(there).free // 1_000_000
    if free_mb < _LEAST_FREE_MB:
        yield Finding(where, State.BAD, f"only {free_mb} MB are free", "make room: every move keeps a picture")
    else:
        yet = "can be written to" if there == folder.absolute() else "will be made by the first match"
        yield Finding(where, State.GOOD, f"{yet}; {free_mb} MB are free")


def _tell(finding: Finding, *, as_json: bool) -> None:
    if as_json:
        print_json({**asdict(finding), "state": finding.state.value})
        return
    sign = {State.GOOD: "  ok ", State.NOTE: "note ", State.BAD: " !!  "}[finding.state]
    click.echo(f"{sign} {finding.what}: {finding.found}")
    if finding.next_step:
        click.echo(f"      next: {finding.next_step}")

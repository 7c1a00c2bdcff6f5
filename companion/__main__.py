"""The command line: ``companion COMMAND``. Here is the table of commands; each is imported when it is asked for."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import click

from companion import __version__
from companion.commands.group import Lazy, LazyGroup

COMMANDS = {
    "demo": Lazy("companion.commands.demo:demo", "Play the worked example on the page, without any hardware."),
    "run": Lazy("companion.commands.run:run", "Referee a game, with its page."),
    "watch": Lazy("companion.commands.watch:watch", "Referee a video or pictures without a page, and tell the events."),
    "read": Lazy("companion.commands.read:read", "Read one photograph: position and score."),
    "calibrate": Lazy(
        "companion.commands.calibrate:calibrate", "The workshop: what is done once, before the first game."
    ),
    "kit": Lazy(
        "companion.commands.kit:kit", "The printable kit: mat with markers, pieces, lens target, instructions."
    ),
    "doctor": Lazy(
        "companion.commands.doctor:doctor", "See what works on this machine, and the next step for what does not."
    ),
    "matches": Lazy("companion.commands.matches:matches", "The matches that were played."),
}
"""Every command, in the order that help shows."""


# What OpenCV and FFmpeg write to standard error is said by our own errors, in one line.
os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # what numpy multiplies is too small to be shared among threads
os.environ.setdefault("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", "2")  # seconds that a silent camera is waited for


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="companion")
def main() -> None:
    """Referee, scorer and log for the board game Mijnlieff, played with real pieces."""
    if sys.stdout is None:  # closed by whoever started the program, and wants to hear nothing
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open as long as the program)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        # names of files that are no text go out as they came in; a terminal that lacks a letter shows another
        any_letter = sys.stdout.encoding.lower() in ("utf-8", "utf8")
        sys.stdout.reconfigure(errors="surrogateescape" if any_letter else "replace")


if __name__ == "__main__":
    main()

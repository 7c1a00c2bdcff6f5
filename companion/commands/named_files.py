"""Files that people name, for commands to read and write; of texts ``-`` stands for standard input or output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from companion.errors import NotationError
from companion.files import read_whole, try_to_write, whole, write_whole
from companion.rules.matchtext import MatchText, is_blank


class FileName(click.ParamType[str]):
    """The name of a file, or ``-``; never empty, as a shell gives it for a variable that is not set."""

    name = "file"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is."""
        if not value:
            self.fail("a file has to have a name", param, ctx)
        return value


def read_text(path: str) -> str:
    """The text of a file, or of standard input for ``-``; a `ClickException` in one line if it cannot be read."""
    try:
        if path == "-":
            data: bytes = whole(sys.stdin.buffer)
            return data.decode("utf-8")
        return read_whole(path)
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{path} is not a text file in UTF-8") from error
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror}") from error


def read_match(path: str) -> MatchText:
    """The match text in a file, or on standard input for ``-``; a `ClickException` in one line if there is none."""
    text = read_text(path)
    if is_blank(text):
        raise click.ClickException(f"{path} is empty; a match text has moves, or at least tags")
    try:
        return MatchText.read(text)
    except NotationError as error:
        raise click.ClickException(f"{path}, {error}") from error


def write_text(path: str, text: str) -> None:
    """Write a file whole, or standard output for ``-``; a `ClickException` in one line if the file cannot be."""
    if path == "-":
        click.echo(text, nl=False)
        return
    try:
        write_whole(path, text)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error


def refuse_output(path: str, example: str) -> None:
    """Make sure that a file can be written, as far as that can be told before; a `ClickException` in one line if not.

    Nothing is written. Standard output is no file; `example` is a name that would do.
    """
    file = Path(path)
    try:
        if path == "-" or path.endswith(("/", os.sep)) or file.is_dir():
            raise click.ClickException(f"{path} is no file: give -o the name of one, such as {example}")
        if not file.absolute().parent.is_dir():
            raise click.ClickException(
                f"there is no folder {file.parent} to write {file.name} into: make it, or give -o another name"
            )
        try_to_write(file)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error

"""``companion kit``: the printable kit, as a PDF."""

from __future__ import annotations

from pathlib import Path

import click

from calibration.kit import PAPERS, TITLE, draw_kit
from companion.commands.named_files import refuse_output
from companion.files import write_whole


@click.command()
@click.option("-o", "--output", default="kit.pdf", show_default=True, metavar="FILE", help="Where the PDF is written.")
@click.option("--paper", type=click.Choice(sorted(PAPERS)), default="a4", show_default=True)
def kit(output: str, paper: str) -> None:
    """Draw the printable kit: mat with markers, pieces to cut out, a target to measure a lens with, instructions."""
    if output in ("", "-"):
        raise click.UsageError("the kit is written to a file, such as -o kit.pdf")
    if Path(output).suffix.lower() not in ("", ".pdf"):
        raise click.UsageError(f"the kit is a PDF, which {output} does not look like; name it .pdf")
    refuse_output(output, "kit.pdf")
    file = Path(output)
    try:
        if file.is_file() and file.stat().st_size and TITLE.encode() not in file.read_bytes():
            raise click.ClickException(f"{output} is there already and is no kit: give -o another name")
        write_whole(output, draw_kit(paper))
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}") from error
    click.echo(f"{output}: print it at 100 %, on {paper.capitalize()}", err=True)

"""Where a profile may be written: nothing that is known there is lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from companion.commands.named_files import refuse_output
from companion.errors import ProfileError
from companion.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Container

_KNOWS = {"enrolment": "its pieces", "cubes": "its cubes", "lens": "its lens", "corners": "its corners"}
"""The fields of a profile that took somebody's time, and what they tell."""


def refuse_loss(output: str, kept: Profile, anew: Container[str], cards: Container[str] = ()) -> None:
    """Make sure, before anything is learnt, that a profile can be written to `output` and nothing is lost there.

    What is there already may only know what is `kept`, and what is learnt `anew`: fields of a profile, and `cards`.

    Raises:
        ProfileError: if something else is there, or a profile that knows more or otherwise.
        click.ClickException: if none can be written.
    """
    refuse_output(output, "set.json")
    file = Path(output)
    if not file.is_file():
        return
    try:
        there = Profile.read(file)
    except ProfileError as error:
        raise ProfileError(f"{output} is there already and is no profile: give -o another name") from error
    lost = [
        what
        for field, what in _KNOWS.items()
        if field not in anew and getattr(there, field) not in (None, getattr(kept, field))
    ]
    if there.layout not in (kept.layout, Profile().layout):
        lost.append("its layout")
    if any(card.kind not in cards and card not in kept.cards for card in there.cards):
        lost.append("its cards")
    if lost:
        raise ProfileError(
            f"{output} knows {' and '.join(lost)}, and would not any more: give --profile {output} to keep that, "
            "or -o another name"
        )

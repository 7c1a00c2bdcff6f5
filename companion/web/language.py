"""The page's words in the reader's language; `_` marks every text that is to be translated."""

from __future__ import annotations

from typing import Any

from flask import request
from flask_babel import gettext

from companion.saying import Saying, parted

LANGUAGES = {"en": "English", "fr": "Français", "it": "Italiano"}
"""What the page speaks, and what each is called in itself. The texts are written in the first; the others are in
``translations/``, which ``scripts/translations.py`` keeps."""
WRITTEN_IN = next(iter(LANGUAGES))
COOKIE = "language"


def chosen() -> str:
    """The language of the request: what was chosen on the page, else what the browser prefers."""
    told = request.cookies.get(COOKIE, "")
    return told if told in LANGUAGES else request.accept_languages.best_match(LANGUAGES, WRITTEN_IN)


def _(text: str, /, **values: Any) -> str:
    """`text` in the language of the request, or of the look that is rendered, with its values filled in."""
    return str(gettext(text, **values))


def told(said: str) -> str:
    """What another part of the program says, in the language of the request; a text that is no saying as it is."""
    if not isinstance(said, Saying):
        return said
    return _(
        said.text, **{name: told(value) if isinstance(value, str) else value for name, value in said.values.items()}
    )


def sentence(said: str) -> str:
    """As `told`, with a capital letter, unless a value begins it, and a full stop; each of several as its own."""
    if len(parts := parted(said)) > 1:
        return " ".join(map(sentence, parts))
    if not isinstance(said, Saying):
        return said
    return closed(told(said)) if said.text.startswith("%") else as_sentence(told(said))


def as_sentence(words: str) -> str:
    """`words` with a capital letter and a full stop."""
    return closed(words[:1].upper() + words[1:])


def closed(words: str) -> str:
    """`words` with a full stop, unless they end as a sentence does."""
    return words if words.endswith((".", "?", "!")) else f"{words}."

"""The page's words in the reader's language; `_` marks every text that is to be translated."""

from __future__ import annotations

from typing import Any

from flask import request
from flask_babel import gettext

LANGUAGES = {"en": "English", "fr": "Français", "it": "Italiano"}
"""What the page speaks, and what each is called in itself. The texts are written in the first; the others are in
``translations/``, which ``scripts/translations.py`` keeps."""
WRITTEN_IN = next(iter(LANGUAGES))
COOKIE = "language"


def chosen() -> str:
    """The language of the request: what was chosen on the page, else what the browser prefers."""
    told = request.cookies.get(COOKIE, "")
    return told if told in LANGUAGES else request.accept_languages.best_match(LANGUAGES, WRITTEN_IN)


def marked(text: str) -> str:
    """`text` as it is, marked to be translated where it is shown."""
    return text


def _(text: str, **values: Any) -> str:
    """`text` in the language of the request, or of the look that is rendered, with its values filled in."""
    return str(gettext(text, **values))

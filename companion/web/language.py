"""The page's words in the reader's language; `_` marks every text that is to be translated."""

from __future__ import annotations

from typing import Any

from flask_babel import gettext

LANGUAGES = ("en",)
"""What the page is translated to, in ``translations/``; the first is what the texts are written in."""


def _(text: str, **values: Any) -> str:
    """`text` in the language of the request, or of the look that is rendered, with its values filled in."""
    return str(gettext(text, **values))

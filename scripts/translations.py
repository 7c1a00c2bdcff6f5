"""Keeps the page's translations: ``python scripts/translations.py``, after a text that the page shows has changed.

Every text that is marked, on the page with ``_`` and elsewhere as a `companion.saying.Saying`, is looked up in the
sources and written to each language's ``messages.po``, where whoever speaks it fills in the new ones; what is filled in
is compiled to ``messages.mo``, which the program reads. Nothing is guessed: a text that was changed counts as a new
one.
"""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

COMPANION = Path(__file__).parents[1] / "companion"
TRANSLATIONS = COMPANION / "web" / "translations"
METHODS = [("**.py", "python"), ("web/templates/**.html", "jinja2")]
KEYWORDS = {"_": None, "Saying": None}
_HEADER = "# What the page says in {language}; kept by scripts/translations.py, translated by hand."
_NO_DATE = datetime(2026, 1, 1, tzinfo=UTC)
"""Stands in every file, so that the same texts make the same bytes."""


def texts_of_the_page() -> Catalog:
    """Every text that the page may show, with the files it stands in."""
    catalog = Catalog()
    for file, _line, text, _comments, context in extract_from_dir(COMPANION, METHODS, keywords=KEYWORDS):
        catalog.add(text, locations=[(f"companion/{file}", 0)], context=context)
    return catalog


def translation(language: str) -> Catalog:
    """What is translated to `language`; empty if nothing is."""
    file = _po(language)
    if not file.exists():
        return Catalog(
            locale=language,
            project="mijnlieff-companion",
            version="page",
            last_translator="by hand",
            language_team=language,
            msgid_bugs_address="see README.md",
            header_comment=_HEADER.format(language=language),
            creation_date=_NO_DATE,
            revision_date=_NO_DATE,
            fuzzy=False,
        )
    with file.open("rb") as opened:
        return read_po(opened, locale=language)


def compiled(language: str) -> bytes:
    """The ``messages.mo`` of what is translated to `language`."""
    file = io.BytesIO()
    write_mo(file, translation(language))
    return file.getvalue()


def update(language: str) -> list[str]:
    """Bring the files of `language` up to date; the texts that are not translated yet."""
    catalog = translation(language)
    catalog.update(texts_of_the_page(), no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    _po(language).parent.mkdir(parents=True, exist_ok=True)
    with _po(language).open("wb") as file:
        write_po(file, catalog, width=120, include_lineno=False, sort_by_file=True)
    _po(language).with_suffix(".mo").write_bytes(compiled(language))
    return [str(message.id) for message in catalog if message.id and not message.string]


def _po(language: str) -> Path:
    return TRANSLATIONS / language / "LC_MESSAGES" / "messages.po"


def main() -> None:
    """Update every language."""
    for language in ("fr", "it"):
        missing = update(language)
        print(f"{language}: {len(missing)} texts are not translated")
        print("".join(f"  {text}\n" for text in missing), end="")


if __name__ == "__main__":
    main()

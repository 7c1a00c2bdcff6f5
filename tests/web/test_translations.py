"""The page speaks every language it says it does, whole and up to date; its reasons are those of the rules."""

from __future__ import annotations

import importlib.util
import io
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from babel.messages.mofile import read_mo
from markupsafe import escape

from companion.errors import LayoutError
from companion.rules import Game, Layout
from companion.web.language import LANGUAGES, WRITTEN_IN
from companion.web.reasons import explanation, refused
from companion.web.seeing import why_not_found
from companion.web.words import headline, notices, reason
from tests.web.room import Room
from tests.web.test_page import PASSED, STORIES

ROOT = Path(__file__).parents[2]
OTHERS = [language for language in LANGUAGES if language != WRITTEN_IN]
PLACEHOLDER = re.compile(r"%\(\w+\)s")


@pytest.fixture(scope="module")
def script():
    """The script that keeps the translations."""
    spec = importlib.util.spec_from_file_location("translations", ROOT / "scripts" / "translations.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts(catalog) -> dict[str, str]:
    return {message.id: message.string for message in catalog if message.id}


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_of_the_page_is_translated_and_nothing_else(script, language):
    wanted = set(texts(script.texts_of_the_page()))
    translated = texts(script.translation(language))
    assert len(wanted) > 100
    assert set(translated) == wanted, "run python scripts/translations.py"
    assert [text for text, told in translated.items() if not told] == []


@pytest.mark.parametrize("language", OTHERS)
def test_translations_fill_in_the_same_values(script, language):
    for text, told in texts(script.translation(language)).items():
        assert set(PLACEHOLDER.findall(text)) == set(PLACEHOLDER.findall(told)), text


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_compiled_is_what_is_translated(script, language):
    shipped = (script.TRANSLATIONS / language / "LC_MESSAGES" / "messages.mo").read_bytes()
    assert texts(read_mo(io.BytesIO(shipped))) == texts(script.translation(language))


def random_games(layout: Layout, seed: int):
    """A game at each of its plies."""
    chance = random.Random(seed)
    game = Game.start(chance.choice(["outside", "anywhere"]), layout=layout)
    while game.to_move is not None:
        yield game
        square = chance.choice(sorted(game.legal_squares()))
        kind = chance.choice([kind for kind, left in game.in_hand(game.to_move).items() if left])
        game = game.play(f"{square}{kind.mark}")


@pytest.mark.parametrize("layout", ["4x4", "ring", "corners", "##.##/##.##"])
def test_reasons_are_those_of_the_rules_word_for_word(app, layout):
    board = Layout.parse(layout)
    room = Room(Game.start(layout=board))
    with app.test_request_context():
        for seed in range(8):
            for game in random_games(board, seed):
                assert explanation(replace(room.view, game=game)) == game.explanation


TOLD = {
    ("fr", "one move"): ("À Foncé de jouer", "Ligne droite en a1 : rangée 1 ou colonne a"),
    ("it", "one move"): ("Tocca a Scuro", "Croce in a1: riga 1 o colonna a"),
    ("fr", "last chance"): ("À Foncé de jouer", "Poussoir en b3 : une case qui ne touche pas b3"),
    ("it", "forced pass"): ("Tocca a Chiaro", "Mossa libera, dopo il passo di Scuro: qualsiasi casella vuota"),
    ("fr", "end"): ("Clair gagne, 4 à 1", "La partie est finie. Videz le plateau pour commencer la suivante."),
}


@pytest.mark.parametrize(("language", "story"), TOLD)
def test_turn_and_reason_are_told_in_the_readers_language(app, language, story):
    view = Room(Game.replay(STORIES[story][0])).view
    with app.test_request_context(headers={"Accept-Language": language}):
        told = headline(view), reason(view)
    assert tuple(text.replace("\N{NO-BREAK SPACE}", " ") for text in told) == TOLD[language, story]


def test_illegal_piece_is_explained_in_the_readers_language(app, room):
    room.play("a1+")
    room.put("c3", "dark straight")
    view = room.look()
    with app.test_request_context(headers={"Accept-Language": "it"}):
        [notice] = notices(view)
    assert notice.title == "Non permesso: croce scura in c3"
    assert notice.text.startswith("c3 non è permessa. Croce in a1: riga 1 o colonna a (b1 c1 d1 a2 a3 a4)")


@pytest.mark.parametrize(
    ("asked", "language"),
    [("fr-CH, fr;q=0.9, en;q=0.8", "fr"), ("it", "it"), ("de, nl;q=0.5", "en"), ("de, it;q=0.5", "it"), ("", "en")],
)
def test_page_speaks_what_the_browser_prefers(here, asked, language):
    page = here.get("/t/1/", headers={"Accept-Language": asked}).text
    assert f'<html lang="{language}"' in page
    assert {"fr": "À Clair de jouer", "it": "Tocca a Chiaro", "en": "Light to play"}[language] in page


def test_language_that_is_chosen_on_the_page_holds_everywhere(here):
    page = here.get("/t/1/").text
    assert 'lang="it" hreflang="it">Italiano</a>' in page
    here.get("/look?language=it&table=1")
    prefers = {"Accept-Language": "fr"}
    for path in ("/t/1/", "/t/1/hand", "/sign-in", "/nothing"):
        assert '<html lang="it"' in here.get(path, headers=prefers).text, path
    assert 'hreflang="it" aria-current="true">Italiano</a>' in here.get("/t/1/", headers=prefers).text
    assert here.get("/api/t/1", headers=prefers).json["explanation"] == "Prima mossa: qualsiasi casella esterna"
    stream = here.client.get("/t/1/live", environ_overrides=here.environ, headers=prefers)
    assert "Tocca a Chiaro" in next(stream.response).decode()
    stream.close()
    here.get("/look?language=klingon&table=1")
    assert '<html lang="it"' in here.get("/t/1/").text


def test_refusals_are_told_in_the_readers_language(here):
    here.get("/look?language=fr&table=1")
    told = here.rule("undo", plies="7").text.replace("\N{NO-BREAK SPACE}", " ")
    assert "la partie a continué entre-temps ; regardez à nouveau" in told


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("path", ["/t/1/", "/t/1/hand", "/t/1/hand?square=a1", "/t/1/hand?ply=1", "/sign-in"])
def test_nothing_on_a_page_is_left_in_english(script, here, room, language, path):
    room.play(*(move for move in PASSED if move != "-"))
    page = here.get(path, headers={"Accept-Language": language}).text
    for text, told in texts(script.translation(language)).items():
        shown = [form.format(escape(text)) for form in (">{}<", "> {}<", 'title="{}"', 'aria-label="{}"')]
        assert text == told or not any(form in page for form in shown), text


def sentences_about_boards_not_found() -> set[str]:
    """What the finder and the follower say: whole sentences that are written in their sources."""
    vision = ROOT / "companion" / "vision"
    written = (vision / "board.py").read_text() + (vision / "follow.py").read_text()
    corners = ["upper", "lower", "left", "right", "upper left", "lower right"]
    told = set(re.findall(r'(?:BoardNotFound\(|return )"([a-z][^"]{15,})"', written))
    told |= {
        start + "the layout ring; …"
        for start in re.findall(r'f"([a-z][^"{]+)(?:the layout \{layout|\{expected)\}', written)
    }
    return told | {f"a hand or something else covers the board's {corner} corner; {REST}" for corner in corners}


REST = "take it away, or give the board's corners"


def test_why_the_board_is_not_found_is_told_in_the_readers_language(app):
    told = sentences_about_boards_not_found()
    assert len(told) == 14
    with app.test_request_context(headers={"Accept-Language": "en"}):
        english = {sentence: why_not_found(sentence) for sentence in told}
    with app.test_request_context(headers={"Accept-Language": "it"}):
        assert all(why_not_found(sentence) != english[sentence] != sentence for sentence in told)
        assert why_not_found("the mat is upside down") == "the mat is upside down"
        for advice in ("", "; give its corners"):
            assert all(
                why_not_found(f"the board is not found: {sentence}{advice}") == why_not_found(sentence)
                for sentence in told
            )


REFUSED = [
    "the match is over already",
    "nothing is asked right now",
    "there is no move to take back",
    "the board is empty, so it is Light's turn",
    "no piece is seen on b3; say which piece it is",
    "what lies on b3 is not clear; say what it is, then join again",
    "the game has gone on meanwhile; look again",
]


def test_why_a_deed_is_refused_is_told_in_the_readers_language(app):
    drawn = []
    for text in ("###/###", "a board"):
        with pytest.raises(LayoutError) as error:
            Layout.parse(text)
        drawn.append(str(error.value))
    with app.test_request_context(headers={"Accept-Language": "it"}):
        for told in (*REFUSED, *drawn):
            said = refused(told)
            assert said != told
            assert ("b3" in said) == ("b3" in told)
        assert refused("d4 is not legal") == "d4 is not legal"

"""The page speaks every language it says it does, whole and up to date; its reasons are those of the rules."""
# ruff: noqa: RUF001 (an apostrophe as it is printed)

from __future__ import annotations

import html
import importlib.util
import io
import random
import re
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from babel.messages.mofile import read_mo
from markupsafe import escape

from companion.camera import open_frames, read_picture
from companion.camera.devices import System, open_camera
from companion.commands.corners import Corners
from companion.errors import CompanionError, SourceError
from companion.profile import LensModel
from companion.rules import Game, Layout
from companion.saying import Saying, joined
from companion.tiles.link import open_tiles
from companion.vision.board import Place, _unsure
from companion.vision.legible import BLURRED
from companion.vision.lens import Lens
from companion.vision.suggestions import FittedPicture
from companion.web.language import LANGUAGES, WRITTEN_IN
from companion.web.reasons import explanation
from companion.web.words import headline, notices, reason, troubles
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
    ("fr", "end"): ("Clair gagne, 4 à 1", "La partie est finie. Videz le plateau pour commencer la partie suivante."),
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
    assert "La partie a continué entre-temps ; regardez à nouveau." in told


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("path", ["/t/1/", "/t/1/hand", "/t/1/hand?square=a1", "/t/1/hand?ply=1", "/sign-in"])
def test_nothing_on_a_page_is_left_in_english(script, here, room, language, path):
    room.play(*(move for move in PASSED if move != "-"))
    page = here.get(path, headers={"Accept-Language": language}).text
    for text, told in texts(script.translation(language)).items():
        shown = [form.format(escape(text)) for form in (">{}<", "> {}<", 'title="{}"', 'aria-label="{}"')]
        assert text == told or not any(form in page for form in shown), text


SOURCE = "the board is not found: %(why)s; give its corners"


def test_why_the_board_is_not_found_is_told_in_the_readers_language(app, room):
    small = Saying("the board is too small in the picture; move the camera closer")
    picture = np.full((200, 200, 3), 60, np.uint8)
    picture[50:150, 50:150] = 200
    corners = np.array([[50, 50], [150, 50], [150, 150], [50, 150]], float)
    place = Place(0.5, corners, 0.5, 0.5, None, np.array([0.9, 0, 0, 0]))
    covered = _unsure(place, FittedPicture.of(picture)).why
    told = {
        Saying(SOURCE, why=small): "Il tavoliere è troppo piccolo nell’immagine; avvicina la telecamera.",
        Saying(SOURCE, why=covered): "Una mano o qualcos’altro copre l’angolo in alto a sinistra del tavoliere; "
        "togli ciò che lo copre.",
        "the mat is upside down": "the mat is upside down",
    }
    with app.test_request_context(headers={"Accept-Language": "it"}):
        for trouble, words in told.items():
            [notice] = notices(replace(room.view, trouble=trouble))
            assert notice.text == words


def test_what_is_wrong_with_a_source_is_told_in_the_readers_language(app, room, tmp_path):
    with pytest.raises(SourceError) as error:
        open_camera("/dev/video97", time.monotonic, system=System(tmp_path))
    lost = replace(room.view, lost=joined([error.value.saying, Saying("it sends no pictures")]))
    with app.test_request_context(headers={"Accept-Language": "it"}):
        [notice] = notices(lost)
    assert notice.text == (
        "Non c’è nessuna telecamera /dev/video97; telecamere presenti: nessuna; collegane una. Non manda immagini."
    )


def test_of_several_sources_each_says_why_the_board_is_not_found(app, room):
    why = Saying("the board is covered or out of focus, or has just been moved")
    camera = Saying("the board is not found: %(why)s", why=why)
    trouble = joined([camera, Saying("it sends no pictures")])
    with app.test_request_context(headers={"Accept-Language": "en"}):
        [notice] = notices(replace(room.view, trouble=trouble))
    assert notice.text == "The board is covered or out of focus, or has just been moved. It sends no pictures."


@pytest.mark.parametrize(
    ("trouble", "title"),
    [
        (BLURRED, "Il tavoliere non si vede"),
        (Saying(SOURCE, why=Saying("it is covered")), "Il tavoliere non si trova"),
        ("the mat is upside down", "Il tavoliere non si trova"),
    ],
)
def test_a_blurred_picture_is_not_called_a_board_that_is_not_found(app, room, trouble, title):
    with app.test_request_context(headers={"Accept-Language": "it"}):
        [notice] = notices(replace(room.view, trouble=trouble))
    assert notice.title == title


@pytest.mark.parametrize(
    ("language", "squares", "title"),
    [
        ("en", 1, "A square is not clear"),
        ("fr", 1, "Une case n’est pas claire"),
        ("it", 1, "Una casella non è chiara"),
        ("en", 2, "Some squares are not clear"),
        ("fr", 2, "Des cases ne sont pas claires"),
        ("it", 2, "Alcune caselle non sono chiare"),
    ],
)
def test_a_tile_board_that_cannot_read_a_square_is_there_all_the_same(app, room, language, squares, title):
    with open_tiles("virtual:tiles", Layout.parse("4x4"), clock=time.monotonic, wait=time.sleep) as board:
        for square in range(squares):
            board.virtual.put(square, "?")
        board.read(1.0)
        unclear = board.trouble
    why = Saying("the board is covered or out of focus, or has just been moved")
    covered = Saying("the board is not found: %(why)s", why=why)
    with app.test_request_context(headers={"Accept-Language": language}):
        told = replace(room.view, trouble=unclear), replace(room.view, trouble=joined([covered, unclear]))
        assert [notice.title for view in told for notice in troubles(view)] == [title, title]
        [note] = notices(replace(room.view, absent=(("tiles:auto", unclear),)))
    assert note.title == title


def test_table_that_has_stopped_or_is_not_recorded_says_why_in_the_readers_language(app, room):
    full = Saying("the disk is full; make room, nothing that was written is lost")
    why = Saying("the match log %(name)s cannot be used: %(why)s", name="log.db", why=full)
    ended = (("video:a.mp4", Saying("it has come to its end")),)
    with app.test_request_context(headers={"Accept-Language": "it"}):
        told = notices(replace(room.view, unrecorded=why, broken=why, absent=ended))
        text = " ".join(notice.text for notice in told)
    assert text.count("il disco è pieno; fai spazio") == 2
    assert "È arrivata alla fine." in text


REFUSED = {
    "undo": ({}, "There is no move to take back."),
    "choose": ({"choice": "new"}, "Nothing is asked right now."),
    "correct": ({"ply": "1", "move": "d1+"}, "Ply 1 is not a move of this game; it has 0 plies."),
    "accept": ({"square": "b3"}, "What lies on b3 is not clear; say which piece it is."),
    "join": ({"to_move": "dark"}, "What lies on a1 is not clear; say what it is, then join again."),
    "new": ({"drawing": "###/###"}, "2x2 boards cannot tile this layout"),
    "answer": ({"square": "q", "content": "dark pusher"}, "'q' is not a square; write column and row, such as a1."),
    "resign": ({"colour": ""}, "colour: it must be one of 'light', 'dark'."),
}


@pytest.mark.parametrize("deed", REFUSED)
@pytest.mark.parametrize("language", OTHERS)
def test_why_a_deed_is_refused_is_told_in_the_readers_language(here, deed, language):
    fields, english = REFUSED[deed]
    assert english in html.unescape(here.rule(deed, **fields).text)
    here.get(f"/look?language={language}&table=1")
    page = html.unescape(here.rule(deed, **fields).text)
    [told] = re.findall(r"<p>(.+)</p>", page)[:1]
    assert not set(told.split()) & {"the", "is", "no", "of", "must", "or"}, told


def test_refusal_begins_as_a_sentence_does(here):
    here.get("/look?language=fr&table=1")
    assert "<p>Un plateau se compose de plaques" in here.rule("new", drawing="###/###").text


@pytest.mark.parametrize("move", ["d3+", "a1x", "b1", "zz", "b1+!", "z9+", "-"])
def test_move_that_cannot_be_corrected_is_refused_in_the_readers_language(here, room, move):
    room.play("a1+", "a3><", "a2+")
    here.get("/look?language=it&table=1")
    page = here.rule("correct", ply="2", move=move)
    [told] = re.findall(r"<p>(.+)</p>", html.unescape(page.text))[:1]
    assert page.status_code == 409
    assert not set(told.split()) & {"the", "is", "no", "by", "row", "straight", "light"}, told


@pytest.mark.parametrize(("path", "told"), [
    ("/nothing", "A questo indirizzo non c’è nulla."),
    ("/t/1/picture.jpg", "Non c’è un’immagine di questo tavolo."),
    ("/t/9/", "Qui non c’è un tavolo 9."),
])  # fmt: skip
def test_page_that_is_not_there_says_so_in_the_readers_language(here, path, told):
    page = here.get(path, headers={"Accept-Language": "it"})
    assert page.status_code == 404
    assert told in html.unescape(page.text)


NO_PAGE = {
    *("camera/virtual.py", "rules/matchtext.py", "rules/position.py", "analysis/strength.py", "store/records.py"),
    *("script.py", "table.py", "tiles/virtual.py", "vision/context.py", "vision/pieces.py", "vision/rectify.py"),
}
"""What these say is said before there is a page, after it, or to programmers alone."""
BEFORE_THE_PAGE = (
    *("{path} is not a video", "{path} has no picture", "{path} {why}"),
    *("first is", "sets is", "ply {told", "there is a {piece} on"),
    *(
        "the corners {said} lie too close",
        "the corners {said} do not go",
        "the corners {said} go round",
        "corners must",
    ),
)
"""So are texts elsewhere that begin so: of a source or a game that is just being opened."""


def texts_raised_as_they_are() -> list[tuple[str, str]]:
    """What is raised where a page may show it, and is no saying, with the modules."""
    errors = "Rules|Layout|Notation|IllegalMove|Source|Vision|Link|Conflict|Table"
    raised = re.compile(rf'\b(?:(?:{errors})Error|BoardNotFound)\(\s*f?"([^"]+)')
    modules = (ROOT / "companion").rglob("*.py")
    texts = {path.relative_to(ROOT / "companion").as_posix(): path.read_text(encoding="utf-8") for path in modules}
    return [
        (name, found[1])
        for name, text in sorted(texts.items())
        if name not in NO_PAGE and not name.startswith("commands/")
        for found in raised.finditer(text)
        if not found[1].startswith(BEFORE_THE_PAGE)
    ]


def test_nothing_that_a_page_may_show_is_raised_without_a_translation():
    assert texts_raised_as_they_are() == []


@pytest.mark.parametrize("language", OTHERS)
def test_why_a_recording_or_its_corners_are_of_no_use_is_told_in_the_readers_language(app, room, tmp_path, language):
    cv2.imwrite(str(tmp_path / "1.png"), np.zeros((40, 60, 3), np.uint8))
    stills = open_frames(f"images:{tmp_path}", time.monotonic)
    (tmp_path / "1.png").unlink()
    (tmp_path / "2.jpg").write_bytes(b"\0\0\0\x24ftypheic\0\0\0\0mif1heic" + bytes(90))
    kitchen = Corners(((10, 9400), (500, 9400), (500, 9000), (10, 9000)), "kitchen.json")
    lens = Lens(LensModel(size=(640, 480), focal=(500, 500), centre=(320, 240), distortion=(0,) * 5, error=0.1))
    for use in (
        lambda: stills.read(0),
        lambda: read_picture(tmp_path / "2.jpg"),
        lambda: kitchen.place((640, 480)),
        lambda: lens.straight(np.zeros((360, 640, 3), np.uint8)),
    ):
        with pytest.raises(CompanionError) as error:
            use()
        with app.test_request_context(headers={"Accept-Language": language}):
            [notice] = notices(replace(room.view, broken=error.value.saying))
        assert not set(notice.text.split()) & {"the", "is", "no", "of", "picture", "pixels;"}, notice.text

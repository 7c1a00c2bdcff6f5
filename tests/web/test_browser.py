"""A whole game on the page in a real browser, and all that may happen to a page meanwhile.

``SHOTS=FOLDER pytest tests/web/test_browser.py`` keeps the pictures of it.
"""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from companion.errors import SourceError, StoreError
from companion.readings import contents_of
from companion.rules import Colour, Piece, Square
from companion.table import Players
from companion.web import Gate, create_app, live
from companion.web.serve import Serving
from tests.web.room import SOON_S, Room

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow
expect.set_options(timeout=SOON_S * 1000)

WORKED_EXAMPLE = [
    *("a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>"),
    *("c1x", "d2><", "d3+", "d4x", "b4x", "b3<>", "b1<>"),
]
WIDTHS = {390: 844, 1280: 800, 1920: 1080}
HALL_MS = 11_000
"""After so long, the list of tables has been renewed."""
SOON_MS = 5_000
"""Too short for the list to be renewed by itself."""


@pytest.fixture(scope="module")
def browser(tool) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=tool("chromium"), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser, serving) -> Iterator[Page]:
    """Table 1 on a page that is live; it must not complain of anything."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(SOON_S * 1000)
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda told: page.complaints.append(told.text) if "Content Security" in told.text else None)
    page.goto(f"{serving}/t/1/")
    expect(page.locator("body")).to_have_attribute("data-live", "yes")
    yield page
    assert page.complaints == []
    context.close()


@pytest.fixture(scope="module")
def shots(tmp_path_factory) -> Path:
    folder = Path(os.environ.get("SHOTS") or tmp_path_factory.mktemp("shots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def picture_at_every_width(page: Page, shots: Path, name: str) -> None:
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than {width} pixels"
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=shots / f"{name}-{scheme}-{width}.png", caret="initial")  # hiding it breaks the policy
    page.set_viewport_size({"width": 1280, "height": 800})


def headline(page: Page) -> str:
    return page.locator(".statement h1").inner_text()


def legal(page: Page) -> set[str]:
    labels = page.locator(".spot").evaluate_all("spots => spots.map(spot => spot.getAttribute('aria-label'))")
    return {label.split(":")[0] for label in labels if label.endswith(": legal")}


def points(page: Page) -> dict[str, int]:
    return {
        side: int(re.sub(r"\D", "", page.locator(f".player.{side} .score").inner_text())) for side in ("light", "dark")
    }


def left(page: Page, side: str) -> int:
    return page.locator(f".player.{side} .rack .piece:not(.gone)").count()


def wait_shown(page: Page, room: Room) -> None:
    """Until the page shows what the table is at."""
    expect(page.locator(".state")).to_have_attribute("data-revision", str(room.view.revision))


def test_whole_game_is_right_on_the_page_at_every_ply(page, room, shots):
    room.look()
    assert headline(page) == "Light to play"
    assert page.locator(".reason").inner_text() == "First move: any outside square"
    for move in WORKED_EXAMPLE:
        view = room.play(move)
        wait_shown(page, room)
        game = view.game
        assert legal(page) == {str(square) for square in game.legal_squares()}, move
        assert points(page) == game.score.as_dict(), move
        assert page.locator(".run").count() == len(game.score.lines), move
        assert [left(page, str(colour)) for colour in Colour] == [game.pieces_left(colour) for colour in Colour], move
        assert page.locator(".board .piece").count() == sum(piece is not None for piece in game.contents)
        if not view.over:
            assert headline(page) == f"{str(game.to_move).capitalize()} to play"
            assert game.explanation.endswith(page.locator(".reason").inner_text())
        match move:
            case "a1+":
                assert page.locator(".reason").inner_text() == "Straight at a1: row 1 or column a"
                picture_at_every_width(page, shots, "after-one-move")
            case "d4x":
                assert page.locator(".notice.pass h2").inner_text() == "Dark must pass"
                assert "Light plays again, on any empty square" in page.locator(".notice.pass").inner_text()
                picture_at_every_width(page, shots, "forced-pass")
            case "b3<>":
                assert page.locator(".notice.chance h2").inner_text() == "Dark's last chance"
                picture_at_every_width(page, shots, "last-chance")
    assert headline(page) == "Light wins, 4 to 1"
    assert page.locator(".player.light.won .tag").inner_text() == "wins"
    assert page.locator(".moves li").count() == 8
    assert page.title() == "Light wins, 4 to 1 · Mijnlieff"
    assert page.locator(".board-place").bounding_box()["width"] > 600
    picture_at_every_width(page, shots, "end")


def test_board_is_seen_from_the_side_one_sits_at(page, serving, room):
    room.play("a1+")
    wait_shown(page, room)
    mine = page.locator("#piece-a1").bounding_box()
    page.get_by_title("Turn the board").click()
    expect(page.locator("body")).to_have_attribute("data-live", "yes")
    theirs = page.locator("#piece-a1").bounding_box()
    assert mine["x"] < theirs["x"]
    assert mine["y"] > theirs["y"]
    assert page.locator(".player.near").get_attribute("aria-label") == "Dark"
    room.play("a3><")
    expect(page.locator("#piece-a3")).to_be_visible()


def test_illegal_piece_is_shown_where_it_lies_with_the_reason_and_may_be_accepted(page, room, shots):
    room.play("a1+")
    room.put("c3", "dark straight")
    room.look()
    wait_shown(page, room)
    assert page.locator("[aria-label='c3: dark straight, not legal'] .stray").count() == 1
    assert page.locator(".notice.wrong h2").inner_text() == "Not legal: dark straight on c3"
    assert "row 1 or column a" in page.locator(".notice.wrong p").first.inner_text()
    picture_at_every_width(page, shots, "illegal")
    page.get_by_role("button", name="Let it count").click()
    expect(page.locator("#piece-c3")).to_be_visible()
    assert str(room.view.game.history[-1]) == "D:c3+!"


def test_illegal_piece_of_unclear_kind_counts_as_what_the_referee_says(page, room, shots):
    room.play("a1+")
    room.board.scene.misread[Square.parse("c3")] = contents_of([Piece.parse("dark pusher"), Piece.parse("dark puller")])
    room.look()
    wait_shown(page, room)
    assert page.locator(".notice.wrong h2").inner_text() == "Not legal: the piece on c3"
    assert page.locator("[aria-label='c3: unclear']").count() == 1
    picture_at_every_width(page, shots, "illegal-unclear")
    page.get_by_role("button", name="dark puller").click()
    expect(page.locator("#piece-c3")).to_be_visible()
    assert str(room.view.game.history[-1]) == "D:c3><!"


def test_unclear_piece_is_answered_with_one_tap(page, room, shots):
    room.play("a1+")
    room.board.scene.misread[Square.parse("b1")] = contents_of([Piece.parse("dark pusher"), Piece.parse("dark puller")])
    room.look()
    wait_shown(page, room)
    assert page.locator(".notice.ask h2").inner_text() == "What lies on b1?"
    picture_at_every_width(page, shots, "unclear")
    page.get_by_role("button", name="dark puller").click()
    expect(page.locator("#piece-b1")).to_be_visible()
    assert str(room.view.game.history[-1]) == "b1><"


def test_referees_hand_undoes_corrects_pauses_resigns_and_begins_anew(page, room, shots):
    room.play("a1+", "a3><")
    wait_shown(page, room)

    page.get_by_role("link", name="a3 puller: correct").click()
    page.get_by_label("What was played").fill("a3<>")
    page.get_by_role("button", name="Correct it").click()
    expect(page.locator("dialog")).not_to_be_visible()
    wait_shown(page, room)
    assert str(room.view.game.history[-1]) == "a3<>"

    page.get_by_role("link", name="a3 pusher: correct").click()
    page.get_by_label("What was played").fill("b3<>")
    page.get_by_role("button", name="Correct it").click()
    expect(page.locator("dialog .wrong")).to_contain_text("b3 is not legal")
    page.keyboard.press("Escape")

    def hand(name: str) -> None:
        page.get_by_role("link", name="Referee's hand").click()
        page.locator("dialog[open]").get_by_role("button", name=name).click()
        expect(page.locator("dialog")).not_to_be_visible()

    hand("Pause")
    expect(page.locator(".statement h1")).to_have_text("Paused")
    hand("Go on")
    expect(page.locator(".statement h1")).to_have_text("Light to play")
    hand("Take the last move back")
    expect(page.locator(".statement h1")).to_have_text("Dark to play")
    page.get_by_role("link", name="Referee's hand").click()
    page.get_by_label("Light, who begins").fill("Ann")
    picture_at_every_width(page, shots, "hand")
    page.keyboard.press("Escape")
    hand("Dark resigns")
    expect(page.locator(".statement h1")).to_have_text("Light wins")
    hand("Take the resignation back")
    expect(page.locator(".statement h1")).to_have_text("Dark to play")
    hand("Dark resigns")
    expect(page.locator(".statement h1")).to_have_text("Light wins")
    page.get_by_role("link", name="Referee's hand").click()
    page.get_by_label("Light, who begins").fill("Ann")
    page.get_by_role("textbox", name="Dark", exact=True).fill("Ben <b>")
    page.get_by_label("anywhere").check()
    page.get_by_label("stairs").check()
    page.get_by_text("Another board, other pieces").click()
    page.get_by_label("Sets of pieces").fill("2")
    picture_at_every_width(page, shots, "new-match")
    page.get_by_role("button", name="Begin a new match").click()
    expect(page.locator(".player.dark h2")).to_have_text("Ben <b>")
    assert (room.view.game.first, room.view.players.light) == ("anywhere", "Ann")
    assert (str(room.view.game.layout), room.view.game.sets) == ("stairs", 2)
    room.play("c2x")
    wait_shown(page, room)
    picture_at_every_width(page, shots, "stairs")


def test_colours_are_exchanged_for_the_next_match_with_one_press(page, room):
    room.table.do(room.table.new_match(room.view.game, Players("Ann", "Ben")))
    wait_shown(page, room)
    page.get_by_role("link", name="Referee's hand").click()
    page.get_by_role("button", name="colours exchanged").click()
    expect(page.locator("dialog")).not_to_be_visible()
    expect(page.locator(".player.light h2")).to_have_text("Ben")
    expect(page.locator(".player.dark h2")).to_have_text("Ann")


def test_what_is_wrong_in_a_field_that_was_folded_away_is_said(page, room):
    page.get_by_role("link", name="Referee's hand").click()
    page.get_by_text("Another board, other pieces").click()
    page.get_by_label("Sets of pieces").fill("99")
    page.get_by_text("Another board, other pieces").click()
    page.get_by_role("button", name="Begin a new match").click()
    expect(page.locator("dialog .wrong")).to_have_text("Sets of pieces: it must be at most 8.")


def test_new_deed_clears_what_was_refused_before(page, room):
    room.play("a1+", "a3><")
    wait_shown(page, room)
    page.get_by_role("link", name="a3 puller: correct").click()
    for move in ("b3<>", "zz"):
        page.get_by_label("What was played").fill(move)
        page.get_by_role("button", name="Correct it").click()
        expect(page.locator("dialog .wrong")).to_contain_text(move[:2])
    expect(page.locator(".wrong")).to_have_count(1)
    page.get_by_label("What was played").fill("a3<>")
    page.get_by_role("button", name="Correct it").click()
    expect(page.locator("dialog")).not_to_be_visible()
    expect(page.locator(".wrong")).to_have_count(0)


NARROW = (320, 360, 400)
NAMES = {
    "one word": ("M" * 40, "W" * 40),
    "hyphens": ("Anna-Maria-Luisa-Magdalena-von-Hohenfels-", "Jean-Baptiste-Emmanuel-de-la-Rochefoucau"),
    "arabic": ("\u0639\u0628\u062f \u0627\u0644\u0631\u062d\u0645\u0646 " * 3, "<script>alert(1)</script>&amp;{{7*7}}"),
}


@pytest.mark.parametrize("names", NAMES)
def test_long_names_push_nothing_off_a_narrow_screen(page, room, serving, shots, names):
    light, dark = (name[:40] for name in NAMES[names])
    room.table.do(room.table.new_match(room.view.game, Players(light, dark)))
    room.play("a1+")
    room.put("c3", "dark straight")
    room.look()
    for path in ("t/1/", "t/1/hand", "t/1/hand?ply=1", "t/1/hand?join=1", "t/1/hand?square=a1", "sign-in", "t/9/"):
        page.goto(f"{serving}/{path}")
        for width in NARROW:
            assert reaches(page, width) <= width, f"{path} reaches beyond {width} pixels"
    page.goto(f"{serving}/t/1/")
    page.get_by_role("link", name="Referee's hand").click()
    expect(page.locator("dialog[open] h1")).to_be_visible()
    for width in NARROW:
        assert reaches(page, width) <= width, f"the referee's hand reaches beyond {width} pixels"
        page.screenshot(path=shots / f"long-names-{names.replace(' ', '-')}-{width}.png", caret="initial")


WORDS_ON_LINES = """things => things.flatMap(thing => {
  const texts = document.createTreeWalker(thing, NodeFilter.SHOW_TEXT), broken = [];
  for (let text; (text = texts.nextNode());)
    for (const word of text.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(line => line.top)).size > 1) broken.push(word[0]);
    }
  return broken;
})"""
"""The words that do not stand on one line."""


@pytest.mark.parametrize("size", [(320, 740), (640, 400)])
@pytest.mark.parametrize("language", ["en", "fr", "it"])
def test_no_word_is_broken_and_nothing_squeezed_on_a_small_screen(page, room, serving, shots, language, size):
    room.play("a1+")
    room.board.scene.misread[Square.parse("b1")] = contents_of(
        [Piece.parse("dark diagonal"), Piece.parse("dark puller")]
    )
    room.look()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{serving}/look?language={language}")
    for path in ("t/1/", "t/1/hand", "t/1/hand?ply=1", "t/1/hand?join=1", "t/1/hand?square=a1", "sign-in"):
        page.goto(f"{serving}/{path}")
        page.screenshot(path=shots / f"small-{size[0]}-{language}-{path.rpartition('/')[2]}.png", full_page=True)
        assert page.locator("button, h1, h2, label, .button").evaluate_all(WORDS_ON_LINES) == [], path
        sizes = page.locator("main .answer .piece, .check input").evaluate_all(
            "things => things.map(thing => thing.getBoundingClientRect()).map(({ width, height }) => width - height)"
        )
        assert all(abs(odd) < 2 for odd in sizes), path


@pytest.mark.parametrize("width", [320, 340, 360, 390])
@pytest.mark.parametrize("names", [("Margherita", "Christophe"), ("Hannemarie", "Wilhelmina")])
def test_first_names_are_not_broken_on_a_telephone(page, room, width, names):
    page.set_viewport_size({"width": width, "height": 844})
    room.table.do(room.table.new_match(room.view.game, Players(*names)))
    wait_shown(page, room)
    assert page.locator(".player h2").evaluate_all(WORDS_ON_LINES) == []


@pytest.mark.parametrize("size", [(640, 400), (844, 390), (768, 1024), (1024, 1366), (1100, 768), (1600, 900)])
@pytest.mark.parametrize("names", [("Margherita", "Wilhelmina"), ("Alexandrine", "Jean-Christophe")])
def test_first_names_are_not_broken_beside_the_board(page, room, size, names):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    room.table.do(room.table.new_match(room.view.game, Players(*names)))
    wait_shown(page, room)
    assert page.locator(".player h2").evaluate_all(WORDS_ON_LINES) == []


@pytest.mark.parametrize("width", [320, 390, 500, 768, 1280])
def test_a_long_name_is_seen_whole_in_its_field(page, room, width):
    page.set_viewport_size({"width": width, "height": 844})
    room.table.do(room.table.new_match(room.view.game, Players("Margherita Ferrari", "Jean-Christophe Petit")))
    page.get_by_role("link", name="Referee's hand").click()
    fields = page.locator("dialog[open] .names input")
    expect(fields).to_have_count(2)
    assert fields.evaluate_all("fields => fields.filter(field => field.scrollWidth > field.clientWidth)") == []


def test_button_keeps_clear_of_the_field_above_it(page, serving):
    page.goto(f"{serving}/sign-in")
    field, button = (page.locator(part).bounding_box() for part in ("#pin", ".letter button"))
    assert button["y"] - (field["y"] + field["height"]) > 6, "the ring of what has the focus is 6 pixels wide"


@pytest.mark.parametrize("size", [(568, 320), (640, 400), (667, 375), (740, 360), (844, 390)])
def test_a_telephone_on_its_side_shows_all_that_matters_without_scrolling(page, room, shots, size):
    """The same as a laptop on which the page is enlarged twice."""
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    for move in ("a1+", "a3><"):
        room.play(move)
    wait_shown(page, room)
    page.screenshot(path=shots / f"low-{width}.png", caret="initial")
    for part in (".board", ".player.light", ".player.dark", ".statement h1", ".reason"):
        assert page.locator(part).bounding_box()["y"] + page.locator(part).bounding_box()["height"] <= height, part
    assert page.locator(".board").bounding_box()["height"] > height * 0.6
    for side in ("light", "dark"):
        rack, score = (page.locator(f".player.{side} {part}").bounding_box() for part in (".rack", ".score"))
        assert score["y"] + score["height"] <= rack["y"] + 2
        inner = page.locator(f".player.{side} .rack li").evaluate_all(
            "kinds => Math.max(...kinds.map(kind => kind.getBoundingClientRect().right))"
        )
        assert inner <= rack["x"] + rack["width"] + 1


@pytest.mark.parametrize("size", [(1600, 900), (1920, 1080), (2560, 1440)])
def test_a_screen_on_the_wall_shows_both_players_whole_beside_a_question_and_the_camera(page, room, shots, size):
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    room.play("a1+")
    room.board.scene.misread[Square.parse("b1")] = contents_of([Piece.parse("dark pusher"), Piece.parse("dark puller")])
    room.look(evidence=jpeg(90))
    expect(page.locator(".notice")).to_be_visible()
    expect(page.locator("#picture")).to_be_visible()
    page.screenshot(path=shots / f"wall-{width}.png", caret="initial")
    for part in page.locator(".player, .notice, .board").all():
        assert part.bounding_box()["y"] + part.bounding_box()["height"] <= height


def test_a_position_is_printed_on_one_sheet(page, room, shots):
    for move in WORKED_EXAMPLE:
        room.play(move)
    wait_shown(page, room)
    printed = page.pdf(path=shots / "printed.pdf", format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1


@pytest.mark.parametrize("backgrounds", [True, False])
def test_print_can_be_read_whatever_the_screen_looks_like(page, room, shots, backgrounds):
    room.play("a1+")
    wait_shown(page, room)
    page.emulate_media(color_scheme="dark", media="print")
    page.pdf(path=shots / f"printed-from-dark-{backgrounds}.pdf", format="A4", print_background=backgrounds)
    for part in (".player.light h2", ".player.dark h2", ".player.dark .score", ".statement h1", ".reason", ".move"):
        thing = page.locator(part).first
        behind = thing.evaluate(BEHIND) if backgrounds else "rgb(255, 255, 255)"
        assert contrast(thing.evaluate(INK), behind) >= 4.5, part


INK = "thing => getComputedStyle(thing).color"
BEHIND = """thing => {
  for (; thing; thing = thing.parentElement) {
    const colour = getComputedStyle(thing).backgroundColor;
    if (!colour.endsWith(", 0)")) return colour;
  }
}"""


def contrast(ink: str, paper: str) -> float:
    """The ratio of two opaque colours, as WCAG 2 defines it."""
    brighter, darker = sorted((luminance(colour) for colour in (ink, paper)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    shares = [int(level) / 255 for level in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_hall_shows_each_table_whole_on_a_narrow_screen(page, app, serving, shots):
    other = Room(table="Hall-of-0123456789012345678901234567890123456789")
    with other.table.running():
        app.tables = {**app.tables, other.table.id: other.table}
        other.table.do(other.table.new_match(other.view.game, Players("M" * 40, "W" * 40)))
        other.board.fail(SourceError("unplugged"))
        page.goto(serving)
        expect(page.locator(".hall")).to_contain_text("The board cannot be seen", timeout=30_000)
        for width in NARROW:
            assert reaches(page, width) <= width
            assert page.locator(".hall .state-of").first.bounding_box()["width"] > width / 3
            page.screenshot(path=shots / f"hall-{width}.png", caret="initial")


@pytest.mark.parametrize("name", ["2", "Hall-of-0123456789012345678901234567890123456789"])
def test_of_several_tables_it_is_said_on_a_narrow_screen_too_which_one_this_is(page, app, serving, shots, name):
    other = Room(table=name)
    with other.table.running():
        expect(page.get_by_text("Table 1", exact=True)).to_be_visible()
        assert reaches(page, NARROW[0]) <= NARROW[0]
        expect(page.get_by_text("Table 1", exact=True)).not_to_be_visible()
        app.tables = {**app.tables, name: other.table}
        page.goto(f"{serving}/t/{name}/")
        for width in NARROW:
            assert reaches(page, width) <= width
            expect(page.get_by_text(f"Table {name}", exact=True)).to_be_visible()
            page.screenshot(path=shots / f"table-{len(name)}-{width}.png", caret="initial")


@pytest.fixture
def other(page, app, serving) -> Iterator[Room]:
    """Table 2; the page shows the list of both tables, and its time passes when it is told to."""
    other = Room(table="2")
    with other.table.running():
        app.tables = {**app.tables, "2": other.table}
        page.clock.install()
        page.goto(serving)
        yield other


def test_hall_is_renewed_where_one_is_and_says_when_it_is_not(page, app, room, other):
    page.get_by_role("link", name="Table 2").focus()
    other.play("a1+")
    page.clock.run_for(HALL_MS)
    expect(page.get_by_role("link", name="Table 2")).to_contain_text("Dark to play")
    expect(page.get_by_role("link", name="Table 2")).to_be_focused()
    expect(page.locator("#stale")).not_to_be_visible()
    page.context.set_offline(True)
    page.clock.run_for(HALL_MS)
    expect(page.locator("#stale")).to_contain_text("Not live")
    page.context.set_offline(False)
    page.clock.run_for(HALL_MS)
    expect(page.locator("#stale")).not_to_be_visible()
    app.tables = {"1": room.table}
    page.clock.run_for(HALL_MS)
    page.wait_for_url("**/t/1/")


@pytest.mark.usefixtures("other")
def test_hall_says_when_the_program_hangs_and_is_renewed_soon_after(page):
    page.route("**/", lambda _: None)
    page.clock.run_for(16_000)
    expect(page.locator("#stale")).to_contain_text("Not live", timeout=SOON_MS)
    page.unroute("**/")
    page.clock.run_for(2 * HALL_MS)
    expect(page.locator("#stale")).not_to_be_visible(timeout=SOON_MS)


@pytest.mark.usefixtures("other")
def test_clock_that_is_set_back_does_not_make_an_old_list_the_current_one(page):
    page.route("**/", lambda _: None)
    page.clock.set_system_time(page.evaluate("Date.now() / 1000") - 3600)
    page.clock.run_for(2_000)
    expect(page.locator("#stale")).to_contain_text("Not live", timeout=SOON_MS)


def test_hall_is_renewed_at_once_when_one_looks_at_it_again(page, other):
    other.play("a1+")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_role("link", name="Table 2")).to_contain_text("Dark to play", timeout=SOON_MS)


def reaches(page: Page, width: int) -> float:
    """How far to the right anything that people have to see or tap reaches."""
    page.set_viewport_size({"width": width, "height": 740})
    reach = "things => Math.max(...things.map(thing => thing.getBoundingClientRect().right))"
    return max(page.locator("body, button, a, input, h1, h2, p, section, dialog[open] *").evaluate_all(reach), 0)


def test_square_is_set_by_tapping_it_and_by_keyboard(page, room):
    room.look()
    room.board.scene.misread[Square.parse("a1")] = contents_of(
        [Piece.parse("light pusher"), Piece.parse("light puller")]
    )
    room.look()
    wait_shown(page, room)
    page.locator("a.spot[aria-label^='a1']").focus()
    page.keyboard.press("Enter")
    page.locator("dialog[open]").get_by_role("button", name="light pusher").press("Enter")
    expect(page.locator("#piece-a1")).to_be_visible()
    assert str(room.view.game.history[0]) == "a1<>"


def test_lost_source_and_unrecorded_events_are_told(page, room):
    room.look()
    room.ledger.trouble = StoreError("the disk is full")
    room.board.fail(SourceError("the camera was unplugged"))
    expect(page.locator(".notice.trouble").first).to_contain_text("the camera was unplugged")
    expect(page.locator(".notice.trouble").last).to_contain_text("the disk is full")
    room.ledger.trouble = None  # or else closing the table would fail, and say why


def test_page_that_hears_nothing_says_so_and_comes_back_with_the_newest_position(page, room, shots):
    room.play("a1+")
    wait_shown(page, room)
    page.clock.install()
    page.context.set_offline(True)
    expect(page.locator("body")).to_have_attribute("data-live", "no")
    expect(page.locator("#stale")).to_be_visible()
    expect(page.locator(".statement")).not_to_be_visible()
    assert not any(inlay.is_visible() for inlay in page.locator(".inlay").all())
    picture_at_every_width(page, shots, "not-live")
    room.play("a3><")
    page.context.set_offline(False)
    page.clock.resume()
    expect(page.locator("#piece-a3")).to_be_visible()
    expect(page.locator("body")).to_have_attribute("data-live", "yes")


@pytest.fixture
def silence(monkeypatch) -> None:
    """A stream without beats, so that nothing is heard unless something happens."""
    monkeypatch.setattr(live, "BEAT_S", 3600.0)


def look_again(page: Page) -> str:
    """Whether the page says that it is live, as soon as one looks at it again."""
    return page.evaluate("() => (document.dispatchEvent(new Event('visibilitychange')), document.body.dataset.live)")


def test_phone_that_slept_does_not_take_its_old_position_for_the_current_one(silence, page, room):
    room.play("a1+")
    wait_shown(page, room)
    page.clock.install()
    page.clock.fast_forward(3600_000)
    assert look_again(page) == "no"
    page.clock.resume()
    expect(page.locator("body")).to_have_attribute("data-live", "yes")


def test_clock_that_is_set_back_does_not_make_an_old_position_the_current_one(silence, page, room):
    room.play("a1+")
    wait_shown(page, room)
    page.clock.install()
    page.clock.set_system_time(page.evaluate("Date.now() / 1000") - 3600)
    assert look_again(page) == "no"
    page.clock.resume()
    expect(page.locator("body")).to_have_attribute("data-live", "yes")


def test_page_survives_a_restarted_program_and_shows_its_position_only(browser, tool):
    before, after = Room(), Room()
    with before.table.running(), after.table.running():
        before.play("a1+")
        port = free_port()
        serving = Serving(create_app({"1": before.table}, Gate(clock=lambda: 0.0)), "127.0.0.1", port).open()
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/t/1/")
        expect(page.locator("body")).to_have_attribute("data-live", "yes")
        first_boot = page.locator("body").get_attribute("data-boot")
        serving.close()
        expect(page.locator("body")).to_have_attribute("data-live", "no")
        after.play("d4x")
        with Serving(create_app({"1": after.table}, Gate(clock=lambda: 0.0)), "127.0.0.1", port):
            expect(page.locator("#piece-d4")).to_be_visible(timeout=SOON_S * 1000)
            expect(page.locator("body")).to_have_attribute("data-live", "yes")
            assert page.locator("body").get_attribute("data-boot") != first_boot
            assert page.locator("#piece-a1").count() == 0
            page.close()


def test_camera_picture_is_shown_and_renewed(page, room, shots):
    room.look(evidence=jpeg(90))
    expect(page.locator("#picture")).to_be_visible()
    first = page.locator("#picture").get_attribute("src")
    room.put("a1", "light straight")
    room.look(evidence=jpeg(160))
    expect(page.locator("#picture")).not_to_have_attribute("src", first)
    expect(page.locator("#picture")).to_have_js_property("complete", True)
    expect(page.locator("#picture")).to_have_js_property("naturalWidth", 400)
    picture_at_every_width(page, shots, "camera")


def free_port() -> int:
    """A port that can be had twice, one after the other; one that the system chose can not."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def jpeg(grey: int) -> bytes:
    return cv2.imencode(".jpg", np.full((400, 400, 3), grey, np.uint8))[1].tobytes()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scene", ["begin", "trouble", "hand", "end", "sign-in", "hall"])
def test_axe_finds_nothing(browser, app, room, serving, scene, scheme):
    screen = {"width": 1280 if scheme == "light" else 360, "height": 800}
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce", viewport=screen)
    if scene == "trouble":
        room.play("a1+")
        room.put("c3", "dark straight")
        room.look()
    if scene == "end":
        room.play(*WORKED_EXAMPLE)
    if scene == "hall":
        app.tables = {**app.tables, "2": Room(table="2").table}
    page.goto(f"{serving}/{ {'sign-in': 'sign-in', 'hall': ''}.get(scene, 't/1/') }")
    if scene not in ("sign-in", "hall"):
        expect(page.locator("body")).to_have_attribute("data-live", "yes")
    if scene == "hand":
        page.get_by_role("link", name="Referee's hand").click()
        expect(page.locator("dialog[open] h1")).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.close()

"""The tile board that is not there, on the page: laid with mouse, touch and keyboard, and only where it belongs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from companion.lamp import TileLamp
from companion.referee import Referee
from companion.rules import Colour, Game, Layout
from companion.store import Opening
from companion.table import Players, Table
from companion.tiles.link import open_tiles
from companion.web import Gate, create_app
from companion.web.serve import Serving
from companion.web.tiles import draw_tiles
from tests.ledger import Ledger
from tests.web.conftest import Person
from tests.web.room import SOON_S
from tests.web.test_browser import WORDS_ON_LINES, WORKED_EXAMPLE, browser, shots  # noqa: F401 (fixtures)

if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS = dict(zip(("+", "x", "<>", "><"), "SDPU", strict=True))


@pytest.fixture
def table() -> Iterator[Table]:
    game = Game.start()
    source = open_tiles("virtual:tiles", game.layout, clock=time.monotonic, wait=time.sleep)
    table = Table(source, Referee(game), Ledger(Opening.of(game)), clock=time.monotonic, lamps=[TileLamp(source)])
    table.board = source.virtual
    with table.running():
        yield table


@pytest.fixture
def app(table):
    app = create_app({"1": table}, Gate(clock=lambda: 0.0, pin="123456"), tiles={"1": table.board})
    app.testing = True
    return app


def put(person, square, piece=""):
    return person.post("/t/1/tiles", data={"token": person.token(), "square": square, "piece": piece})


def test_a_piece_is_laid_where_it_is_touched_and_taken_away_when_it_is_touched_again(table, here):
    assert put(here, "b1", "S").status_code == 303
    assert table.board.letters[1] == "S"
    assert put(here, "b1", "D").status_code == 303
    assert table.board.letters == "." * 16


@pytest.mark.parametrize(
    ("square", "piece", "says"),
    [("a1", "", "Choose a piece first."), ("a1", "Q", "Choose a piece first."), ("z9", "S", "z9 is not on this board")],
)
def test_what_cannot_be_laid_is_said(table, here, square, piece, says):
    assert says in put(here, square, piece).text
    assert table.board.letters == "." * 16


def test_without_scripts_a_chosen_piece_is_not_lost_and_what_is_laid_is_shown(here, app):
    assert "http-equiv" not in here.get("/t/1/").text
    assert 'href="./?side=light">Look again</a>' in here.get("/t/1/").text
    assert 'http-equiv="refresh"' in Person(app, address="10.0.0.77").get("/t/1/").text
    laid = put(here, "b1", "S")
    assert 'id="piece-b1"' in here.get(laid.headers["Location"]).text


def test_there_are_no_more_pieces_than_in_the_box(table, here):
    for square in ("a1", "b1"):
        put(here, square, "S")
    assert "Choose a piece first." in put(here, "c1", "S").text
    assert table.board.letters == "SS" + "." * 14


def test_only_the_referee_lays_pieces_and_only_from_our_page(table, here, app):
    guest = Person(app, address="10.0.0.77")
    assert "Tile board" in here.get("/t/1/").text
    assert "Tile board" not in guest.get("/t/1/").text
    assert guest.get("/t/1/tiles").status_code == 302
    assert here.post("/t/1/tiles", data={"square": "a1", "piece": "S"}).status_code == 403
    assert table.board.letters == "." * 16


def test_it_is_only_there_where_the_board_is_not(table, here, app):
    app.tiles = {}
    assert "Tile board" not in here.get("/t/1/").text
    assert here.get("/t/1/tiles").status_code == 404


def test_it_is_seen_from_the_players_side(here):
    names = [page.split('name="square" value="')[1][:2] for page in (here.get("/t/1/tiles").text,)]
    assert names == ["a4"]
    assert here.get("/t/1/tiles?side=dark").text.split('name="square" value="')[1][:2] == "d1"


def test_a_board_with_holes_is_drawn_with_them():
    game = Game.start(layout=Layout.parse("ring"))
    source = open_tiles("virtual:tiles", game.layout, clock=lambda: 0.0, wait=lambda _: None)
    view = Table(source, Referee(game), Ledger(Opening.of(game)), clock=time.monotonic).view
    rows = draw_tiles(source.virtual, view, Colour.LIGHT).rows
    assert any(tile is None for row in rows for tile in row)
    assert sum(tile is not None for row in rows for tile in row) == 32


# In a browser ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def address(app) -> Iterator[str]:
    with Serving(app, "127.0.0.1", 0) as serving:
        yield f"http://127.0.0.1:{serving.port}/t/1/"


@pytest.fixture
def open_page(browser, address):  # noqa: F811
    contexts = []

    def opened(**kwargs):
        context = browser.new_context(reduced_motion="reduce", **kwargs)
        contexts.append(context)
        context.set_default_timeout(SOON_S * 1000)
        page = context.new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda told: page.complaints.append(told.text) if "Content Security" in told.text else None)
        page.goto(address)
        expect(page.locator("body")).to_have_attribute("data-live", "yes")
        return page

    yield opened
    for context in contexts:
        assert [page.complaints for page in context.pages] == [[]]
        context.close()


@pytest.mark.slow
def test_an_answer_that_comes_late_does_not_undo_a_choice(open_page):
    page, held, holding = open_page(), [], [True]
    first, second = (page.locator(f"#spare-{letter}") for letter in (LETTERS["+"], LETTERS["x"]))
    first.check()
    page.locator("#tile-a1").click()
    expect(page.locator(".board .piece")).to_have_count(1)
    page.route("**/tiles?side=*", lambda route: held.append(route) if holding else route.continue_())
    with page.expect_request("**/tiles?side=*"):
        page.evaluate("htmx.trigger(document.getElementById('tiles'), 'tiles:look')")
    second.check()
    holding.clear()  # the page may have looked by itself, too
    with page.expect_response("**/tiles?side=*"):
        for route in held:
            route.continue_()
    expect(page.locator(".htmx-request")).to_have_count(0)
    expect(second).to_be_checked()


@pytest.mark.slow
def test_an_answer_that_comes_late_does_not_put_out_the_lights(open_page):
    page, held = open_page(), []

    def hold(route):
        held.append((route, route.fetch()) if route.request.method == "POST" else route.continue_())

    page.route("**/tiles?side=*", hold)
    page.locator(f"#spare-{LETTERS['+']}").check()
    page.locator("#tile-a1").click()
    expect(page.locator(".board .piece")).to_have_count(1)
    page.wait_for_timeout(500)  # time to look at the tiles, as the table has said they changed
    route, answer = held[0]
    route.fulfill(response=answer)
    expect(page.locator(".tile.legal")).to_have_count(6)
    expect(page.locator(".htmx-request")).to_have_count(0)
    expect(page.locator(".tile.legal")).to_have_count(6)


@pytest.mark.slow
def test_no_tap_is_lost_however_fast_they_come(open_page, table):
    page = open_page()
    page.locator(f"#spare-{LETTERS['+']}").check()
    page.evaluate("for (const name of ['a1', 'a2', 'a1', 'a2', 'b1']) document.getElementById(`tile-${name}`).click()")
    expect(page.locator("#tile-b1 .piece")).to_be_visible()
    assert table.board.letters == ".S" + "." * 14


def lay_with_mouse(page, move, letter):
    page.locator(f"#spare-{letter}").check()
    page.locator(f"#tile-{move[:2]}").click()


def lay_with_touch(page, move, letter):
    while not page.locator(f"#spare-{letter}").is_checked():  # the page may be drawn anew under the finger
        page.locator(f"label:has(#spare-{letter})").tap()
    page.locator(f"#tile-{move[:2]}").tap()


def lay_with_keys(page, move, letter):
    page.locator(f"#spare-{letter}").focus()
    page.keyboard.press("Space")
    page.locator(f"#tile-{move[:2]}").focus()
    page.keyboard.press("Enter")


@pytest.mark.slow
@pytest.mark.parametrize("lay", [lay_with_mouse, lay_with_touch, lay_with_keys])
def test_a_whole_game_is_played_on_the_page_alone(open_page, table, shots, lay):  # noqa: F811
    phone = lay is lay_with_touch
    page = open_page(
        viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 800}, has_touch=phone
    )
    expect(page.locator(".tile.legal")).to_have_count(12)
    game = Game.start()
    for ply, move in enumerate(WORKED_EXAMPLE):
        letter = LETTERS[move[2:]]
        lay(page, move, letter if str(game.to_move) == "light" else letter.lower())
        game = game.play(move)
        expect(page.locator(".board .piece")).to_have_count(ply + 1)
        expect(page.locator(".tile.legal, .tile.pass")).to_have_count(len(game.legal_squares()))
        if ply == 5:
            assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
            page.screenshot(path=shots / f"tiles-{lay.__name__}.png", full_page=True, caret="initial")
    assert table.view.game == game
    assert [str(move) for move in game.moves] == WORKED_EXAMPLE
    expect(page.locator(".tile.won").first).to_be_visible()


@pytest.mark.slow
def test_an_illegal_piece_is_lit_red_and_goes_when_it_is_touched(open_page, shots):  # noqa: F811
    page = open_page(viewport={"width": 1280, "height": 800})
    lay_with_mouse(page, "a1", "S")
    lay_with_mouse(page, "c3", "d")
    expect(page.locator("#tile-c3.wrong")).to_be_visible()
    expect(page.locator(".tile.back")).to_have_count(6)
    page.screenshot(path=shots / "tiles-wrong.png", caret="initial")
    page.locator("#tile-c3").click()
    expect(page.locator(".tile.wrong")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1024, 768), (1100, 470), (1100, 768), (1280, 800), (1600, 900), (1920, 1080)])
@pytest.mark.parametrize("language", ["en", "fr", "it"])
def test_no_word_is_broken_beside_a_tile_board(open_page, table, size, language):
    page = open_page(viewport={"width": size[0], "height": size[1]}, locale=language)
    for names in (("Margherita", "Wilhelmina"), ("Alexandrine", "Jean-Christophe")):
        table.do(table.new_match(Game.start(), Players(*names)))
        expect(page.locator(".player.light h2")).to_have_text(names[0])
        table.board.put(0, "S")
        expect(page.locator("#tile-a1 .piece")).to_be_visible()
        table.board.put(10, "p")
        expect(page.locator(".notice.wrong button")).to_be_visible()
        assert page.locator("button, h1, h2, label, .button, p").evaluate_all(WORDS_ON_LINES) == []
        for square in (0, 10):
            table.board.put(square, ".")
        expect(page.locator(".stray")).to_have_count(0)

"""What the page and the JSON API say of a table, and what they do to it."""

from __future__ import annotations

import html
import math
import re
import socket
import threading
import urllib.error
import urllib.request
from dataclasses import replace

import pytest

from companion.errors import SourceError
from companion.events import ChoiceNeeded, MatchStarted
from companion.readings import ANYTHING, contents_of
from companion.rules import Colour, Game, Layout, Piece, Square
from companion.table import Players
from companion.web.deeds import REQUESTS
from companion.web.drawing import RIM, SQUARE, draw
from companion.web.live import Fragments, Look, stream
from companion.web.pages import live_html
from companion.web.questions import about_choice
from companion.web.serve import Serving
from companion.web.state import state_of
from companion.web.words import headline, notices, reason, spoken
from tests.web.room import Room

MIDDLE = SQUARE / 2


def spot(view, name, side=Colour.LIGHT):
    return next(spot for spot in draw(view, side).spots if spot.name == name)


def shown(game: Game):
    """A table at which `game` is being played, and nobody does anything."""
    return Room(game).view


# The drawing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "square", "column", "row"),
    [("light", "a1", 0, 3), ("light", "d4", 3, 0), ("dark", "a1", 3, 0), ("dark", "d4", 0, 3), ("dark", "b1", 2, 0)],
)
def test_squares_lie_as_the_player_sees_them(side, square, column, row):
    drawn = spot(shown(Game.start()), square, Colour(side))
    assert (drawn.x, drawn.y) == (RIM + column * SQUARE, RIM + row * SQUARE)


def test_legal_squares_and_the_last_piece_are_marked():
    view = shown(Game.start().play("a1+").play("a3><"))
    drawn = draw(view)
    assert {spot.name for spot in drawn.spots if spot.legal} == {str(square) for square in view.game.legal_squares()}
    assert [spot.name for spot in drawn.spots if spot.last] == ["a3"]
    assert spot(view, "a1").piece == Piece.parse("light straight")


def test_spots_are_read_from_the_far_left_to_the_near_right():
    names = [spot.name for spot in draw(shown(Game.start())).spots]
    assert (names[0], names[3], names[12], names[15]) == ("a4", "d4", "a1", "d1")


def test_every_line_that_scores_is_drawn_from_its_first_to_its_last_piece():
    game = Game.start()
    for move in ["a1+", "a2+", "b2>", "b1x", "c3x", "c1+"]:
        game = game.play({"b2>": "b2><"}.get(move, move), ruled=True)
    [run, *others] = draw(shown(game)).runs
    assert not others
    assert (run.colour, run.points, run.angle) == (Colour.LIGHT, 1, -45.0)
    assert (run.middle_x, run.middle_y) == (RIM + SQUARE + MIDDLE, RIM + 2 * SQUARE + MIDDLE)
    assert math.isclose(run.length, 2 * SQUARE * math.sqrt(2), abs_tol=0.1)


def test_board_of_any_layout_is_laid_of_its_plates():
    game = Game.start(layout=Layout.parse("stairs"))
    drawn = draw(shown(game))
    assert len(drawn.plates) * 4 == len(drawn.spots) == len(game.layout)
    assert all(RIM <= x < drawn.width - RIM and RIM <= y < drawn.height - RIM for x, y in drawn.plates)


def test_where_a_piece_may_go_is_drawn_while_that_counts():
    view = shown(Game.replay(["a1+"]))
    assert [spot.name for spot in draw(view).spots if spot.legal] == ["a4", "a3", "a2", "b1", "c1", "d1"]
    for moot in (replace(view, paused=True), replace(view, resigned=Colour.DARK)):
        assert not any(spot.legal for spot in draw(moot).spots)


# The words --------------------------------------------------------------------------------------------------------

PASSED = ["a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>", "c1x", "d2><", "d3+", "d4x", "-"]
FORFEITED = [
    *("a3><", "a2<>", "c4><", "b4<>", "d3x", "b1><", "c1x", "b2+"),
    *("b3<>", "d1x", "c2+", "c3x", "d4+", "a4><", "-", "d2+", "-"),
]
STORIES = {
    "beginning": ([], "Light to play", "First move: any outside square", []),
    "one move": (["a1+"], "Dark to play", "Straight at a1: row 1 or column a", []),
    "forced pass": (PASSED, "Light to play", "Free play after Dark's pass: any empty square", ["Dark must pass"]),
    "last chance": (
        [*PASSED, "b4x", "-", "b3<>"],
        "Dark to play",
        "Pusher at b3: a square not touching b3",
        ["Dark's last chance"],
    ),
    "last chance that is forfeited": (
        FORFEITED,
        "Dark wins, 1 to 0",
        "The game is over. Clear the board to begin the next game.",
        ["Light's last chance is forfeited"],
    ),
    "end": (
        [*PASSED, "b4x", "-", "b3<>", "b1<>"],
        "Light wins, 4 to 1",
        "The game is over. Clear the board to begin the next game.",
        [],
    ),
}


def test_on_a_full_board_nobody_forfeits_a_last_chance(app):
    game = Game.start(layout=Layout.parse("##/##"))
    for move in ("a1+", "b1<>", "a2<>", "b2><"):
        game = game.play(move)
    with app.test_request_context():
        told = [(notice.title, notice.text) for notice in notices(shown(game))]
    assert told == [("The board is full", "Neither player has a square left.")]


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_headline_reason_and_notices(story, app):
    moves, title, why, told = story
    view = shown(Game.replay(moves))
    with app.test_request_context():
        assert (headline(view), reason(view)) == (title, why)
        assert [notice.title for notice in notices(view)] == told


@pytest.mark.parametrize(
    ("played", "why"),
    [
        ({"recorded": True, "ended": True}, "The recording is over."),
        ({"recorded": True}, "The game is over."),
        ({}, "The game is over. Clear the board to begin the next game."),
    ],
)
def test_nobody_is_asked_to_clear_a_board_that_is_only_a_recording(app, played, why):
    view = shown(Game.replay(STORIES["end"][0]))
    with app.test_request_context():
        assert reason(replace(view, **played)) == why


def test_after_the_end_it_is_said_how_the_next_game_begins_until_it_does(app, room):
    room.play("a1+")
    with app.test_request_context():
        told = [reason(room.table.do(lambda referee, time: referee.resign(time, Colour.DARK)))]
        room.lift("a1")
        told.append(reason(room.look()))
        room.put("d1", "light straight")
        told.append(reason(room.look()))
        recorded = reason(replace(room.view, resigned=Colour.LIGHT, recorded=True))
    assert told == [
        "Dark resigned. Clear the board to begin the next game.",
        "Dark resigned. The next game begins with its first piece.",
        "Straight at d1: row 1 or column d",
    ]
    assert recorded == "Light resigned."


def test_the_pieces_of_which_it_is_asked_whether_they_are_left_over_are_named(app):
    room = Room(Game.replay(STORIES["end"][0]))
    with app.test_request_context(), room.table.running():
        room.put("b1", "dark pusher")
        room.put("d1", "light diagonal")
        [notice] = [notice for _ in range(6) for notice in notices(room.look())]
    assert notice.title == "Which game do these pieces belong to?"
    assert notice.text == "What lies on b1 may be left of the last one, or begin the next."


def test_of_a_correction_that_is_not_done_it_is_said_that_it_is_not_and_how_to_do_it(app, here, room):
    room.play("a1+", "a3><", "a2+")
    assert here.rule("correct", ply="1", move="d1x").status_code == 303
    with app.test_request_context():
        [notice] = notices(room.view)
    assert notice.text == "Nothing is corrected yet. To let a3>< count, correct the move again and say so."
    assert notice.choices == (("resume", "Leave the game as it was"),)


@pytest.mark.parametrize("moves", [STORIES["forced pass"][0], STORIES["last chance"][0]])
def test_after_a_resignation_nobody_is_told_what_to_play(app, moves):
    view = replace(shown(Game.replay(moves)), resigned=Colour.LIGHT)
    with app.test_request_context():
        assert notices(view) == []
        assert spoken(view).endswith("Dark wins. Light resigned. Clear the board to begin the next game.")
        assert "pass" not in spoken(view)
        assert state_of(view, "boot").notices == []


def test_after_a_resignation_nothing_has_to_be_put_back(app, room):
    room.play("a1+", "a3><")
    room.lift("a1")
    assert room.look().disturbed
    room.table.do(lambda referee, time: referee.resign(time, Colour.DARK))
    with app.test_request_context():
        assert (room.look().disturbed, notices(room.view)) == (frozenset(), [])
    assert room.table.do(lambda referee, time: referee.undo(time)).disturbed


def test_who_pauses_after_the_end_is_not_told_to_begin_the_next_game(app, here, room):
    room.play("a1+")
    for deed, fields in (("resign", {"colour": "dark"}), ("pause", {"paused": "true"})):
        assert here.rule(deed, **fields).status_code == 303
    why = "Dark resigned. What lies on the board decides nothing until the referee goes on."
    with app.test_request_context():
        assert (headline(room.view), reason(room.view)) == ("Light wins", why)
        assert why in spoken(room.view)
    assert here.get("/api/t/1").json["explanation"] == why


def test_a_game_that_is_taken_up_again_does_not_begin_the_next_one(room):
    room.play("a1+")
    room.table.do(lambda referee, time: referee.resign(time, Colour.DARK))
    room.lift("a1")
    assert room.look().cleared
    assert not room.table.do(lambda referee, time: referee.undo(time)).cleared


def test_players_are_called_by_their_names(app):
    view = Room(light="Ann", dark="Ben").view
    with app.test_request_context():
        assert headline(view) == "Ann to play"


def test_moved_piece_is_told_with_what_has_to_be_put_back(app, room):
    room.play("a1+", "a3><")
    room.lift("a1")
    view = room.look()
    assert spot(view, "a1").missing
    with app.test_request_context():
        [notice] = notices(view)
    assert (notice.title, notice.text) == ("Something has moved", "Put back: a1 light straight")


def test_of_a_piece_that_is_not_seen_the_referee_may_say_that_it_lies_there(here, room):
    room.play("a1+", "a3><")
    room.lift("a1")
    room.look()
    page = here.get("/t/1/").text
    assert "If it lies there all the same, say so:" in page
    assert here.rule("answer", square="a1", content="light straight", asked="lost a2").status_code == 409
    assert here.rule("answer", square="a1", content="light straight", asked="lost a1").status_code == 303
    assert room.view.disturbed == frozenset()
    assert "Something has moved" not in here.get("/t/1/").text


def test_a_hand_that_rests_on_the_board_from_the_start_is_asked_to_leave(app, here, room):
    room.board.scene.covered = {Square.parse("b2"), Square.parse("a2")}
    assert room.look().unseen == frozenset()
    with app.test_request_context():
        [notice] = notices(room.look())
    assert notice.title == "Part of the board is covered"
    assert notice.text == "Take away what covers a2, b2: the whole board has to be seen once."
    assert here.get("/api/t/1").json["unseen"] == ["a2", "b2"]
    room.board.scene.covered = set()
    assert room.look().unseen == frozenset()
    assert str(room.play("a1+").game.history[0]) == "a1+"
    room.board.scene.covered = {Square.parse("b2")}
    room.look()
    assert room.look().unseen == frozenset()


def test_squares_of_which_nothing_can_be_told_from_the_start_are_named_and_may_be_said(app, here, room):
    scene = room.board.scene
    scene.misread = {Square.parse(square): ANYTHING for square in ("b2", "a2")}
    assert room.look().unread == frozenset()
    for _ in range(6):
        view = room.look()
    with app.test_request_context():
        [notice] = notices(view)
    assert notice.title == "Some squares are not clear"
    assert notice.text.startswith("What lies on a2, b2 cannot be seen yet. ")
    assert here.get("/api/t/1").json["unread"] == ["a2", "b2"]
    for square in list(scene.misread):
        room.table.do(lambda referee, time, square=square: referee.answer(time, square, None))
    assert room.look().unread == frozenset()
    assert str(room.play("a1+").game.history[0]) == "a1+"


def test_squares_that_are_out_of_sight_for_long_are_named_until_they_are_seen(app, here, room):
    room.play("a1+")
    room.board.scene.covered = {Square.parse("c3"), Square.parse("d3")}
    assert room.look().out_of_sight == frozenset()
    for _ in range(9):
        view = room.look()
    with app.test_request_context():
        [notice] = [notice for notice in notices(view) if notice.title == "Part of the board is covered"]
    assert (notice.kind, "c3" in notice.text) == ("note", True)
    assert "c3" in here.get("/api/t/1").json["out_of_sight"]
    room.board.scene.covered = set()
    assert room.look().out_of_sight == frozenset()


def test_trouble_comes_before_everything_else(app, room):
    room.play("a1+")
    room.put("c3", "dark straight")
    room.look()
    room.board.fail(SourceError("unplugged"))
    while not room.view.lost:
        room.table.wait_newer(room.view.revision, 10)
    with app.test_request_context():
        assert [notice.kind for notice in notices(room.view)] == ["trouble", "wrong"]


# The stream -------------------------------------------------------------------------------------------------------


def test_what_will_never_be_recorded_is_told_while_the_next_match_is_kept(app, room):
    view = replace(room.view, never_recorded="another program writes to match 1")
    with app.test_request_context():
        [told] = notices(view)
        assert state_of(view, "boot").unrecorded == "another program writes to match 1"
    why = "A part of what was played is not kept, and never will be: another program writes to match 1"
    assert (told.kind, told.title, told.text) == ("trouble", "Not recorded", why)


def test_final_hash_is_shown_with_the_result(app, here, room):
    room.table.do(lambda referee, time: referee.resign(time, Colour.DARK))
    assert "final hash" not in here.get("/t/1/").text
    assert here.get("/api/t/1").json["filed"] is None
    view = replace(room.view, filed=(12, "0123456789abcdef" * 4))
    with app.test_request_context():
        shown = live_html(view, Look(side=Colour.LIGHT, language="en", referee=False))
        assert state_of(view, "boot").filed.model_dump() == {"match": 12, "log": "0123456789abcdef" * 4}
    assert "Match 12. Its final hash begins with <code>0123456789abcdef</code>" in shown


def test_viewer_is_sent_the_whole_table_first_and_again_when_it_changes(room):
    closing = threading.Event()
    sent = stream(room.table, lambda view: f"view {len(view.game.history)}".encode(), closing)
    assert next(sent) == b"view 0"
    room.play("a1+")
    assert next(sent) == b"view 1"
    closing.set()
    assert list(sent) == []


def test_viewer_is_told_of_a_new_picture_alone_without_the_whole_page(room):
    room.look(evidence=b"\xff\xd8one")
    sent = stream(room.table, lambda _: b"page", threading.Event())
    assert next(sent) == b"page"
    room.look(evidence=b"\xff\xd8two")
    assert next(sent) == b"event: picture\ndata: 2\n\n"


def test_page_is_rendered_once_for_all_who_look_at_it_in_the_same_way(room):
    rendered = []

    def render(view, look):
        rendered.append(look.side)
        return "<p>\n  a\n</p>"

    fragments = Fragments(render)
    light, dark = (Look(side=side, language="en", referee=False) for side in Colour)
    for look in (light, light, dark, light):
        assert fragments.message(room.view, look) == b"data: <p>\ndata: a\ndata: </p>\n\n"
    assert rendered == [Colour.LIGHT, Colour.DARK]


def test_stream_is_live_over_http_and_carries_each_referees_own_token(app, here, room):
    answer = here.client.get("/t/1/live", environ_overrides=here.environ)
    assert answer.content_type == "text/event-stream; charset=utf-8"
    message = next(answer.response).decode()
    assert message.startswith("data: <div")
    assert "%session-token%" not in message
    app.closing.set()
    answer.close()


# The referee's hand -----------------------------------------------------------------------------------------------


def test_forms_work_without_any_script(here, room):
    assert here.rule("resign", colour="dark", side="dark").headers["Location"] == "/t/1/?side=dark"
    assert room.view.winner is Colour.LIGHT


@pytest.mark.parametrize(
    ("deed", "fields", "code", "why"),
    [
        ("undo", {}, 409, "no move to take back"),
        ("answer", {"square": "z9", "content": "."}, 409, "z9 is not on this board"),
        ("answer", {"square": "a1", "content": "green straight"}, 409, "is no piece"),
        ("accept", {"square": "a1"}, 409, "No piece is seen on a1"),
        ("correct", {"ply": "1", "move": "a1"}, 409, "is not a move of this game"),
        ("correct", {"ply": "x", "move": "a1+"}, 422, "ply"),
        ("resign", {"colour": "green"}, 422, "colour"),
        ("choose", {"choice": "new"}, 409, "Nothing is asked"),
        ("new", {"light": "x" * 41}, 422, "light"),
        ("new", {"layout": "heptagon"}, 409, "nor a drawing: it has"),
        ("new", {"drawing": "   ", "layout": "heptagon"}, 409, "nor a drawing: it has"),
        ("new", {"drawing": "###/###"}, 409, "2x2 boards cannot tile this layout"),
        ("new", {"drawing": "/".join(["#" * 26] * 8)}, 409, "That board has 208 squares; at most 128"),
        ("new", {"sets": "0"}, 422, "Sets of pieces: it must be"),
        ("new", {"sets": "many"}, 422, "Sets of pieces: it must be"),
        ("undo", {"plies": "7"}, 409, "gone on meanwhile"),
        ("dance", {}, 404, "There is nothing at this address."),
    ],
)
def test_refused_deed_says_why_and_changes_nothing(here, room, deed, fields, code, why):
    room.look()
    before = room.view
    answer = here.rule(deed, **fields)
    assert answer.status_code == code
    assert why in answer.text
    assert room.view.game is before.game


def test_after_an_error_one_goes_back_to_its_table(here):
    assert 'href="/t/1/">Back to the table' in here.rule("undo").text
    assert 'href="/t/1/">Back to the table' in here.get("/t/1/picture.jpg").text
    assert 'href="/t/1/">Back to the table' in here.get("/t/1/nothing/here").text
    assert 'href="/t/1/?side=dark">Back to the table' in here.get("/t/1/do/undo?side=dark").text
    assert "language=fr&amp;table=1&amp;side=dark" in here.get("/t/1/do/undo?side=dark").text
    assert 'href="/">Back to the table' in here.get("/t/9/").text


def test_from_an_address_of_no_table_one_goes_to_all_where_there_are_several(here, app):
    app.tables["2"] = app.tables["1"]
    assert 'href="/">See all tables' in here.get("/t/9/").text
    assert 'href="/t/2/">Back to the table' in here.get("/t/2/nothing/here").text


def test_a_resignation_is_taken_back_once_however_often_that_is_tapped(here, room):
    room.play("a1+")
    assert here.rule("resign", colour="light", plies="1", resigned="false").status_code == 303
    assert here.rule("undo", plies="1", resigned="true").status_code == 303
    again = here.rule("undo", plies="1", resigned="true")
    assert (again.status_code, [str(ply) for ply in room.view.game.history]) == (409, ["a1+"])
    assert "gone on meanwhile" in again.text
    assert here.rule("resign", colour="light").status_code == 303
    assert here.rule("undo", plies="1", resigned="false").status_code == 409
    assert room.view.resigned is Colour.LIGHT
    for form in ("hand", "hand?ply=1", "hand?join=1"):
        assert '<input type="hidden" name="resigned" value="true">' in here.get(f"/t/1/{form}").text


def cleared(room):
    """The view when nothing lies on the board any more."""
    for square in list(room.board.scene.pieces):
        room.lift(str(square))
    return room.look()


def test_a_new_match_is_begun_once_however_often_that_is_tapped(here, room):
    first = room.play("a1+").match
    assert f'<input type="hidden" name="match" value="{first}">' in here.get("/t/1/hand").text
    for _ in range(2):
        assert here.rule("new", light="Ann", match=first).status_code == 303
    second = cleared(room)
    assert (second.match != first, second.players.light) == (True, "Ann")
    assert [type(told) for told in room.ledger.events].count(MatchStarted) == 2
    room.play("b1x")
    assert here.rule("new", light="Ann", match=second.match, plies="0").status_code == 409
    assert here.rule("new", light="Ann", match=second.match, plies="1").status_code == 303


def test_the_players_of_the_match_before_exchange_their_colours(here, room):
    assert 'name="exchanged"' not in here.get("/t/1/hand").text
    first = here.rule("new", light="Ann", dark="Ben") and room.look().match
    assert '<button class="quiet" name="exchanged" value="true">' in here.get("/t/1/hand").text
    for _ in range(2):
        assert here.rule("new", light="Ann", dark="Ben", exchanged="true", match=first).status_code == 303
    assert room.view.players == Players("Ben", "Ann")
    assert [type(told) for told in room.ledger.events].count(MatchStarted) == 3


def test_an_answer_is_to_the_question_that_was_read(here, room):
    room.play("a1+", "a2+", "a3+")
    lay_there = dict(room.board.scene.pieces)
    match = cleared(room).match
    asked = asked_on(here)
    assert asked.startswith("new ")
    room.board.scene.pieces |= lay_there
    assert room.look().question is None
    cleared(room)
    late = here.rule("choose", choice="new", asked=asked)
    assert (late.status_code, room.view.match) == (409, match)
    assert "gone on meanwhile" in late.text
    assert here.rule("choose", choice="new", asked=asked_on(here)).status_code == 303
    assert room.view.match != match


def test_a_question_about_other_pieces_at_the_same_moment_is_another_one():
    left_over = ChoiceNeeded(
        time=32.9, table="1", ply=17, question="start", choices=("resume", "new"), squares=(Square.parse("b1"),)
    )
    put_back = replace(left_over, squares=(Square.parse("a1"),))
    assert about_choice(left_over) != about_choice(put_back)


def test_a_ruling_is_about_the_piece_that_was_read(here, room):
    room.play("a1+")
    room.put("c3", "dark straight")
    room.look()
    asked = asked_on(here)
    room.lift("c3")
    room.look()
    room.put("c3", "dark diagonal")
    room.look()
    assert here.rule("accept", square="c3", asked=asked).status_code == 409
    assert here.rule("accept", square="c3", asked=asked_on(here)).status_code == 303
    assert here.rule("accept", square="c3", asked=asked).status_code == 409
    assert [str(ply) for ply in room.view.game.history] == ["a1+", "D:c3x!"]


def asked_on(person) -> str:
    """What the answers on the page say that they are for; the state names it alike."""
    asked = html.unescape(re.search(r'name="asked" value="([^"]+)"', person.get("/t/1/").text)[1])
    state = person.get("/api/t/1").json
    assert asked in {told["asked"] for told in [*state["problems"], *filter(None, [state["question"]])]}
    return asked


def test_a_match_in_which_nothing_was_played_may_be_begun_anew(here, room):
    for square, piece in (("a1", "light straight"), ("c3", "dark puller"), ("d4", "light pusher")):
        room.put(square, piece)
    seen = room.look()
    assert seen.question is not None
    assert here.rule("new", match=seen.match).status_code == 303
    view = room.look()
    assert view.match != seen.match
    assert set(map(str, view.to_lift)) == {"a1", "c3", "d4"}


def test_a_new_match_may_be_begun_on_a_page_from_before_another_began_by_itself(here, room):
    room.play("a1+")
    seen = room.look().match
    here.rule("resign", colour="dark")
    cleared(room)
    room.put("b1", "light diagonal")
    room.look()
    assert here.get("/api/t/1").json["match"] != seen
    assert here.rule("new", light="Bea", match=seen).status_code == 303
    assert (room.view.players.light, room.view.game.history) == ("Bea", ())


def test_a_page_of_the_match_before_does_nothing_to_this_one(here, room):
    seen = room.play("a1+").match
    here.rule("new", light="Ann")
    cleared(room)
    now = room.play("b1x").match
    refused = here.rule("undo", match=seen, plies="1", resigned="false")
    assert (refused.status_code, [str(ply) for ply in room.view.game.history]) == (409, ["b1x"])
    assert "gone on meanwhile" in refused.text
    for form in ("hand", "hand?ply=1", "hand?join=1", "hand?square=c3"):
        assert f'<input type="hidden" name="match" value="{now}">' in here.get(f"/t/1/{form}").text
    assert here.rule("undo", match=now, plies="1", resigned="false").status_code == 303


def test_a_page_of_other_plies_does_nothing_though_they_are_as_many(here, room):
    """Of two referees who correct the same ply the second silently undid what the first had done."""
    room.play("a1+")
    sheet = here.get("/t/1/hand?ply=1").text
    assert '<input type="hidden" name="history" value="a1+">' in sheet
    assert here.rule("correct", ply="1", move="a1x", plies="1", history="a1+").status_code == 303
    refused = here.rule("correct", ply="1", move="a1><", plies="1", history="a1+")
    assert (refused.status_code, [str(ply) for ply in room.view.game.history]) == (409, ["a1x"])
    assert "gone on meanwhile" in refused.text
    assert here.rule("undo", plies="1", history="a1+").status_code == 409
    assert here.rule("undo", plies="1", history="a1x").status_code == 303


def test_who_looks_on_is_not_told_that_the_referee_is_asked_about_an_illegal_piece(here, elsewhere, room):
    room.play("a1+")
    room.board.scene.misread[Square.parse("c3")] = contents_of(map(Piece.parse, ("dark pusher", "dark puller")))
    room.look()
    assert "The referee is being asked." not in elsewhere.get("/t/1/").text
    asked = here.get("/t/1/").text
    assert "Let it count as:" in asked
    assert "It is another piece" in asked


def test_which_piece_may_only_have_been_lifted_is_told(app, room):
    room.play("a1+", "a2+")
    room.lift("a2")
    room.board.scene.misread[Square.parse("a3")] = contents_of(map(Piece.parse, ("light straight", "dark straight")))
    for _ in range(3):
        room.look()
    with app.test_request_context():
        asked = notices(room.view)[0]
    assert asked.title == "Only lifted, or played elsewhere?"
    assert asked.text.startswith("a2: put back")
    assert [choice for choice, _ in asked.choices] == ["a2+ a3+", "a3+"]


def test_a_piece_is_not_told_as_lifted_for_an_order_of_moves_on_a_square_whose_name_begins_like_its_own(app):
    room = Room(Game.start("anywhere", layout=Layout.parse("/".join(["##"] * 10))))
    scene, either = room.board.scene, contents_of(map(Piece.parse, ("light straight", "dark straight")))
    with room.table.running():
        room.play("a1<>", "b5<>")
        scene.misread |= dict.fromkeys(map(Square.parse, ("a10", "b10")), either)
        room.look()
        room.look()
        room.lift("a1")
        with app.test_request_context():
            told = [notice.title for notice in notices(room.look())]
    assert told == ["In which order?", "Something has moved"]


@pytest.mark.parametrize(
    ("fields", "layout", "sets"),
    [
        ({}, "4x4", 1),
        ({"layout": "ring"}, "ring", 2),
        ({"layout": "8x2", "sets": "3"}, "8x2", 3),
        ({"layout": "4x4", "drawing": "..## / #### / ##.."}, "..##/####/##..", 1),
    ],
)
def test_new_match_is_played_on_the_board_that_was_chosen(here, room, fields, layout, sets):
    room.look()
    assert here.rule("new", light="Ann", first="anywhere", **fields).status_code == 303
    assert (str(room.view.game.layout), room.view.game.sets) == (layout, sets)
    assert (str(room.board.scene.layout), room.view.game.first) == (layout, "anywhere")
    room.play("a1+")
    assert [str(ply) for ply in room.view.game.history] == ["a1+"]
    assert f'value="{layout}" checked' in here.get("/t/1/hand").text


def test_pieces_of_the_match_before_have_to_be_lifted_and_that_is_said(app, here, room):
    room.play("a1+", "a3><")
    here.rule("new", layout="4x4")
    assert here.get("/api/t/1").json["to_lift"] == ["a1", "a3"]
    with app.test_request_context():
        [notice] = notices(room.look())
    assert (notice.title, notice.text) == ("Clear away what was played before", "Lift the pieces on a1, a3.")
    for square in ("a1", "a3"):
        room.lift(square)
    room.look()
    assert room.play("b1x").to_lift == frozenset()
    assert str(room.view.game.history[0]) == "b1x"


def test_what_keeps_the_next_match_from_being_followed_is_said(app, here, room):
    room.play("a1+", "a3><")
    here.rule("resign", colour="light")
    room.put("d1", "light diagonal")
    for _ in range(6):
        room.look()
    with app.test_request_context():
        [notice] = notices(room.view)
    assert (notice.title, notice.text) == ("The next game has not begun", "Lift the pieces on a1, d1, a3.")


def test_join_takes_the_board_as_it_lies(here, room):
    for square, piece in (("a1", "light straight"), ("a3", "dark puller"), ("d4", "light pusher")):
        room.put(square, piece)
    assert room.look().question.question == "start"
    assert here.rule("join", to_move="dark", last="d4").status_code == 303
    assert room.view.game.content(Square.parse("d4")) == Piece.parse("light pusher")
    assert room.view.game.to_move is Colour.DARK
    assert room.view.question is None


def test_every_deed_is_in_the_api_and_its_description(here):
    paths = here.get("/api/openapi.json").json["paths"]
    assert {f"/api/t/{{table}}/{name}" for name in REQUESTS} < set(paths)


def test_api_tells_and_does_what_the_page_does(here, room):
    room.play("a1+")
    told = here.get("/api/t/1").json
    assert (told["history"], told["to_move"], told["board"]["a1"]) == (["a1+"], "dark", "light straight")
    assert told["explanation"] == "Straight at a1: row 1 or column a"
    assert told["in_hand"]["light"]["straight"] == 1

    def post(deed, body):
        return here.client.post(f"/api/t/1/{deed}", json=body, environ_overrides=here.environ)

    assert post("resign", {"colour": "light"}).json["winner"] == "dark"
    assert post("resign", {"colour": "light"}).status_code == 409
    assert "message" in post("resign", {"colour": "light"}).json
    assert post("resign", {"colour": "green"}).status_code == 422
    assert here.get("/api/t/9").status_code == 404
    assert [table["table"] for table in here.get("/api/tables").json["tables"]] == ["1"]


@pytest.mark.parametrize("depth", [50, 500, 5000, 60_000])
@pytest.mark.parametrize("closed", [True, False])
def test_program_that_sends_nested_nonsense_is_told_that_it_is_wrong(here, depth, closed):
    body = "[" * depth + "]" * depth * closed
    answer = here.client.post(
        "/api/t/1/resign", data=body[: 64 * 1024], content_type="application/json", environ_overrides=here.environ
    )
    assert answer.status_code in (400, 422)


def test_picture_is_sent_once_and_then_known(here, room):
    assert here.get("/t/1/picture.jpg").status_code == 404
    room.look(evidence=b"\xff\xd8jpeg")
    first = here.get("/t/1/picture.jpg")
    assert first.data == b"\xff\xd8jpeg"
    again = here.get("/t/1/picture.jpg", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("path", "content_type"), [("/t/9/", "text/html"), ("/nothing", "text/html"), ("/api/t/9", "application/json")]
)
def test_what_is_not_there_is_told_in_the_askers_own_form(here, path, content_type):
    answer = here.get(path)
    assert (answer.status_code, answer.mimetype) == (404, content_type)
    assert ("here is no table 9 here" in answer.text) == ("9" in path)


def test_one_table_is_shown_at_once_and_the_lamp_is_remembered(here):
    assert here.get("/").headers["Location"] == "/t/1/"
    here.get("/look?theme=dark&table=1")
    assert 'data-theme="dark"' in here.get("/t/1/").text


# The server -------------------------------------------------------------------------------------------------------


class Faulty:
    """An app with a bug."""

    def __call__(self, environ, start_response):
        raise ZeroDivisionError("a bug")

    def end_streams(self):
        pass


def test_a_bug_in_the_app_is_in_this_programs_log(caplog, capfd):
    with Serving(Faulty(), "127.0.0.1", 0) as serving, pytest.raises(urllib.error.HTTPError, match="500"):
        urllib.request.urlopen(f"http://127.0.0.1:{serving.port}/")
    assert [(each.name, each.message) for each in caplog.records] == [
        ("companion.web.serve", "ZeroDivisionError('a bug')")
    ]
    assert "Traceback" in caplog.text
    assert capfd.readouterr().err == ""


def test_a_request_that_is_never_finished_is_no_fault_of_the_program(app, monkeypatch, caplog):
    monkeypatch.setattr("cheroot.server.HTTPServer.timeout", 0.3)
    told = (
        "POST /api/t/1/undo HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        "Content-Length: 50",
        "",
        "{",
    )
    with Serving(app, "127.0.0.1", 0) as serving, socket.create_connection(("127.0.0.1", serving.port)) as phone:
        phone.sendall("\r\n".join(told).encode())
        while phone.recv(4096):
            pass
    assert caplog.records == []


def test_rows_of_a_drawn_board_may_share_an_indent(room):
    request = REQUESTS["new"].model_validate({"drawing": "    ..##\n    ####\n    ##.."})
    room.table.do(request.deed(room.table))
    assert room.view.game.layout == Layout.parse("..##/####/##..")

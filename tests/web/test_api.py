"""What the JSON API answers to requests that are not as they should be, and what it says of a table in trouble."""

from __future__ import annotations

import html

import pytest

from companion.errors import SourceError
from tests.web.room import Room


def ask(person, deed, body, kind="application/json"):
    """A program's request, from this machine."""
    return person.client.post(f"/api/t/1/{deed}", data=body, content_type=kind, environ_overrides=person.environ)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_what_is_not_called_json_is_of_the_wrong_kind(here, room, kind):
    room.play("a1+")
    refused = ask(here, "undo", "{}", kind)
    assert (refused.status_code, len(room.view.game.history)) == (415, 1)
    assert refused.json["message"] == "send JSON, with the header Content-Type: application/json"


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/x-www-form-urlencoded", None])
@pytest.mark.parametrize(("path", "code"), [("/api/t/1/fly", 404), ("/api/t/1", 405), ("/t/1/fly", 404)])
def test_what_nothing_can_be_sent_to_is_not_there_whatever_is_sent(here, path, code, kind):
    answer = here.client.post(path, data="{}", content_type=kind, environ_overrides=here.environ)
    assert answer.status_code == code


@pytest.mark.parametrize(
    ("deed", "body", "message"),
    [
        ("undo", "{}", "il n\u2019y a aucun coup à reprendre"),
        ("resign", "{}", "colour: il manque"),
        ("undo", "[]", "le corps doit être un objet JSON, par exemple {}"),
    ],
)
def test_a_refusal_is_in_the_language_that_is_asked_for(here, deed, body, message):
    french = {"Content-Type": "application/json", "Accept-Language": "fr"}
    refused = here.client.post(f"/api/t/1/{deed}", data=body, headers=french, environ_overrides=here.environ)
    assert refused.json["message"] == message


@pytest.mark.parametrize("body", ["null", "[]", '"x"', "7", "", "{", '{"plies": 1'])
def test_body_that_is_no_object_does_nothing(here, room, body):
    room.play("a1+")
    refused = ask(here, "undo", body)
    assert (refused.status_code, len(room.view.game.history)) == (400, 1)
    assert "JSON" in refused.json["message"]
    assert ask(here, "undo", "{}").status_code == 200


@pytest.mark.parametrize(
    ("deed", "body", "message"),
    [
        ("new", '{"sets": 99}', "sets: it must be at most 8"),
        ("new", '{"sets": "x", "fun": 1}', "sets: it must be a whole number; fun: there is no such field"),
        ("new", '{"first": "x"}', "first: it must be one of 'outside', 'anywhere'"),
        ("new", '{"light": 3}', "light: it must be a text"),
        ("resign", "{}", "colour: it is missing"),
        ("pause", '{"paused": "x"}', "paused: it must be true or false"),
        ("correct", '{"ply": 0, "move": "a1+"}', "ply: it must be at least 1"),
        ("undo", '{"plies": 1e400}', "plies: it must be a whole number"),
        ("choose", '{"choice": "\\ud800"}', "choice: it must be a text"),
        ("new", f'{{"dark": "{"x" * 41}"}}', "dark: it may have at most 40 letters"),
    ],
)
def test_wrong_field_is_named_with_what_is_expected(here, deed, body, message):
    refused = ask(here, deed, body)
    assert (refused.status_code, refused.json["message"]) == (422, message)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Ann\\u0007\\u001b[31m", "Ann[31m"),
        ("\\u202eneB", "neB"),
        ("Ann\\nMary", "Ann Mary"),
        ("\\u200b\\u0000 ", ""),
        ("Zo\\u00eb \\ud83d\\udc69\\u200d\\ud83d\\ude80", "Zoë 👩\u200d🚀"),
    ],
)
def test_what_cannot_be_seen_in_a_name_is_left_out(here, room, name, kept):
    assert ask(here, "new", f'{{"light": "{name}"}}').status_code == 200
    assert room.view.players.light == kept


def test_a_name_is_told_as_it_was_written_to_whoever_does_not_break_lines(here, room):
    here.rule("new", light="Ann", dark="Jean-Baptiste")
    room.look()
    room.play("a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>", "c1x", "d2><", "d3+", "d4x")
    state = here.get("/api/t/1").json
    assert state["explanation"] == "Free play after Jean-Baptiste's pass: any empty square"
    assert state["notices"][0]["title"] == "Jean-Baptiste must pass"
    here.rule("resign", colour="light")
    page = html.unescape(here.get("/t/1/").text)
    for shown in ("<title>Jean-Baptiste wins", 'data-title="Jean-Baptiste wins"', "Jean-Baptiste wins. Ann resigned."):
        assert shown in page


def test_program_is_told_what_answers_a_question(here, room):
    for move in ("a1+", "a2+"):
        room.play(move)
    asked = ask(here, "correct", '{"ply": 1, "move": "a1x"}').json["question"]
    assert (asked["question"], asked["choices"], asked["illegal"]) == ("correct", ["resume"], ["a2+"])
    assert "To let a2+ count, correct the move again" in here.get("/t/1/").text
    assert ask(here, "choose", '{"choice": "resume"}').json["question"] is None
    assert ask(here, "correct", '{"ply": 1, "move": "a1x"}').json["question"]["illegal"] == ["a2+"]
    ruled = ask(here, "correct", '{"ply": 1, "move": "a1x", "rule_later": true}').json
    assert (ruled["history"], ruled["question"]) == (["a1x", "D:a2+!"], None)


def test_to_join_is_offered_and_is_a_request_of_its_own(here, room):
    for square, piece in (("a1", "light straight"), ("a3", "dark puller"), ("d4", "light pusher")):
        room.put(square, piece)
    room.look()
    asked = here.get("/api/t/1").json["question"]
    assert (asked["question"], asked["choices"]) == ("start", ["resume", "join", "new"])
    refused = ask(here, "choose", '{"choice": "join"}')
    assert (refused.status_code, "use `join`" in refused.json["message"]) == (409, True)
    assert ask(here, "join", '{"to_move": "dark", "last": "d4"}').json["question"] is None


def test_state_tells_of_a_table_that_has_stopped(here, room):
    assert here.get("/api/t/1").json["stopped"] == ""
    room.board.fail(RuntimeError("out of order"))
    while not room.view.broken:
        room.table.wait_newer(room.view.revision, 1)
    assert here.get("/api/t/1").json["stopped"] == "out of order"


@pytest.mark.parametrize(
    ("fault", "told"),
    [(SourceError("unplugged"), "The board cannot be seen"), (RuntimeError("gone"), "This table has stopped")],
)
def test_hall_tells_which_table_is_in_trouble(here, app, fault, told):
    other = Room(table="2")
    with other.table.running():
        app.tables = {**app.tables, "2": other.table}
        assert told not in here.get("/").text
        before = other.view.revision
        other.board.fail(fault)
        other.table.wait_newer(before, 60)
        assert here.get("/").text.count(told) == 1


def test_api_says_what_a_body_has_to_be(here):
    for path in here.get("/api/openapi.json").json["paths"].values():
        assert "post" not in path or path["post"]["requestBody"]["required"]


def test_api_says_that_deeds_from_elsewhere_need_the_pin(here):
    told = here.get("/api/openapi.json").json
    assert told["components"]["securitySchemes"]["pin"]["name"] == "X-Companion-Pin"
    asked = {method: action.get("security") for path in told["paths"].values() for method, action in path.items()}
    assert asked == {"get": None, "post": [{"pin": []}, {}]}

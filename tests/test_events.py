"""Events as JSON: what the contract promises of each, and that each reads back as it was told."""

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.events import (
    EVENTS,
    BoardDisturbed,
    ChoiceNeeded,
    Event,
    GameOver,
    IllegalPlacement,
    KindNeeded,
    LastChance,
    MatchStarted,
    MovePlayed,
    PieceUnclear,
    content_text,
    parse_content,
)
from companion.readings import ALL_CONTENTS
from companion.rules import Colour, Game, Kind, Piece, Score, Square

A1, B4 = Square.parse("a1"), Square.parse("b4")
DARK_PUSHER = Piece(Colour.DARK, Kind.PUSHER)

texts = st.text(max_size=8)
colours = st.sampled_from(Colour)
squares = st.builds(Square, st.integers(0, 98), st.integers(0, 25))
FIELDS = {
    "time": st.integers(0, 10**9).map(lambda milliseconds: milliseconds / 1000),
    "table": texts,
    "ply": st.integers(1, 99),
    "first": st.sampled_from(("outside", "anywhere")),
    "variant": st.sampled_from(("standard", "green-box")),
    "colour": colours,
    "winner": st.none() | colours,
    "score": st.builds(Score, st.integers(0, 50), st.integers(0, 50)),
    "ruled": st.booleans(),
    "paused": st.booleans(),
    "square": squares,
    "content": st.sampled_from([content for content in ALL_CONTENTS if content]),
    "reason": st.sampled_from(("square", "turn", "kind", "over")),
    "question": st.sampled_from(("order", "start", "new", "correct")),
    "squares": st.lists(squares).map(tuple),
    "legal": st.lists(squares).map(tuple),
    "contents": st.lists(st.sampled_from(ALL_CONTENTS)).map(tuple),
    "moves": st.lists(texts).map(tuple),
    "before": st.lists(texts).map(tuple),
    "after": st.lists(texts).map(tuple),
    "illegal": st.lists(texts, max_size=3).map(tuple),
    "choices": st.lists(texts).map(tuple),
}
"""What a field may hold, by its name; any other holds a text."""


def events_of(kind):
    return st.builds(kind, **{field.name: FIELDS.get(field.name, texts) for field in fields(kind)})


# The keys that other programs rely on, beside event, time, table and ply.
CONTRACT = {
    "MatchStarted": {"first", "layout", "variant"},
    "MovePlayed": {"colour", "move", "score", "ruled"},
    "PassForced": {"colour"},
    "LastChance": {"colour", "legal"},
    "IllegalPlacement": {"square", "content", "reason", "legal"},
    "PieceUnclear": {"square", "contents"},
    "KindNeeded": {"square", "contents"},
    "BoardDisturbed": {"squares"},
    "BoardRestored": {"squares"},
    "MoveTakenBack": {"move"},
    "Corrected": {"before", "after"},
    "SourceLost": {"source", "why"},
    "SourceBack": {"source", "why"},
    "Paused": {"paused"},
    "GameOver": {"moves", "score", "winner"},
    "Unresolved": {"squares"},
}


@pytest.mark.parametrize("kind", EVENTS.values(), ids=EVENTS)
@given(data=st.data())
def test_an_event_reads_back_from_its_json(kind, data):
    event = data.draw(events_of(kind))
    told = json.loads(json.dumps(event.as_dict()))
    read = Event.from_dict(told)
    assert read == event
    assert type(read) is kind
    assert read.as_dict() == told


@pytest.mark.parametrize("name", CONTRACT)
@given(data=st.data())
def test_an_event_has_the_keys_of_the_contract(name, data):
    told = data.draw(events_of(EVENTS[name])).as_dict()
    assert told["event"] == name
    assert list(told)[:4] == ["event", "time", "table", "ply"]
    assert set(told) >= CONTRACT[name]


def test_every_event_there_is_can_be_read():
    assert set(EVENTS) == {kind.__name__ for kind in Event.__subclasses__()}


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (
            MatchStarted(time=0.0, ply=1, first="outside", layout="4x4"),
            {"event": "MatchStarted", "time": 0.0, "table": "1", "ply": 1,
             "first": "outside", "layout": "4x4", "variant": "standard"},
        ),
        (
            MovePlayed(time=2.7504, table="hall-7", ply=3, colour=Colour.LIGHT, move="a2+", score=Score(1, 0)),
            {"event": "MovePlayed", "time": 2.75, "table": "hall-7", "ply": 3, "colour": "light", "move": "a2+",
             "score": {"light": 1, "dark": 0}, "ruled": False},
        ),
        (
            LastChance(time=1.0, ply=16, colour=Colour.DARK, legal=(A1, B4)),
            {"event": "LastChance", "time": 1.0, "table": "1", "ply": 16, "colour": "dark", "legal": ["a1", "b4"]},
        ),
        (
            IllegalPlacement(time=1.0, ply=2, square=B4, content=DARK_PUSHER, reason="turn", legal=(A1,), words="No."),
            {"event": "IllegalPlacement", "time": 1.0, "table": "1", "ply": 2, "square": "b4",
             "content": "dark pusher", "reason": "turn", "legal": ["a1"], "words": "No."},
        ),
        (
            PieceUnclear(time=1.0, ply=2, square=A1, contents=(None, DARK_PUSHER)),
            {"event": "PieceUnclear", "time": 1.0, "table": "1", "ply": 2, "square": "a1",
             "contents": [".", "dark pusher"]},
        ),
        (
            KindNeeded(time=1.0, ply=2, square=A1, contents=()),
            {"event": "KindNeeded", "time": 1.0, "table": "1", "ply": 2, "square": "a1", "contents": []},
        ),
        (
            GameOver(time=9.0, ply=4, moves=("a1+", "-"), score=Score(2, 2), winner=None),
            {"event": "GameOver", "time": 9.0, "table": "1", "ply": 4, "moves": ["a1+", "-"],
             "score": {"light": 2, "dark": 2}, "winner": "draw"},
        ),
        (
            GameOver(time=9.0, ply=4, moves=(), score=Score(0, 2), winner=Colour.DARK),
            {"event": "GameOver", "time": 9.0, "table": "1", "ply": 4, "moves": [],
             "score": {"light": 0, "dark": 2}, "winner": "dark"},
        ),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_an_event_is_told_so(event, told):
    assert event.as_dict() == told


def test_a_score_with_its_lines_is_told_by_its_points():
    score = Game.replay(["a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>"]).score
    assert len(score.lines) == 1
    event = MovePlayed(time=1.0, ply=7, colour=Colour.LIGHT, move="c3<>", score=score)
    assert event.as_dict()["score"] == {"light": 1, "dark": 0}
    assert Event.from_dict(event.as_dict()) == event


def test_a_field_with_a_default_may_be_missing():
    told = {"event": "ChoiceNeeded", "time": 1, "ply": 2, "question": "new", "choices": ["yes", "no"]}
    assert Event.from_dict(told) == ChoiceNeeded(time=1, ply=2, question="new", choices=("yes", "no"))


def test_a_key_that_no_field_has_is_passed_over():
    told = BoardDisturbed(time=1.0, ply=2, squares=(A1,)).as_dict()
    assert Event.from_dict(told | {"later": "addition"}) == BoardDisturbed(time=1.0, ply=2, squares=(A1,))


MOVE = MovePlayed(time=1.0, ply=1, colour=Colour.LIGHT, move="a1+", score=Score(0, 0)).as_dict()
BEGUN = {"event": "MatchStarted", "time": 0, "ply": 1, "first": "outside", "layout": "4x4"}
ASKED = {"event": "ChoiceNeeded", "time": 1, "ply": 2, "question": "new", "choices": ["new", "resume"]}
ILLEGAL = IllegalPlacement(time=1.0, ply=2, square=B4, content=DARK_PUSHER, reason="turn", legal=(A1,)).as_dict()


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, "None is not an event; known are MatchStarted, MovePlayed, "),
        (MOVE | {"event": "Earthquake"}, "'Earthquake' is not an event; known are MatchStarted, MovePlayed, "),
        ({name: MOVE[name] for name in MOVE if name != "score"}, "MovePlayed lacks its field 'score'"),
        (BEGUN | {"first": "inside"}, "'inside' does not fit the field 'first' of MatchStarted"),
        (BEGUN | {"variant": "blue-box"}, "'blue-box' does not fit the field 'variant' of MatchStarted"),
        (MOVE | {"time": "soon"}, "'soon' does not fit the field 'time' of MovePlayed"),
        (MOVE | {"ply": 1.5}, "1.5 does not fit the field 'ply' of MovePlayed"),
        (MOVE | {"ply": True}, "True does not fit the field 'ply' of MovePlayed"),
        (MOVE | {"colour": "red"}, "'red' does not fit the field 'colour' of MovePlayed"),
        (MOVE | {"move": 7}, "7 does not fit the field 'move' of MovePlayed"),
        (MOVE | {"score": {"light": 1}}, "{'light': 1} does not fit the field 'score' of MovePlayed"),
        (MOVE | {"score": "1-0"}, "'1-0' does not fit the field 'score' of MovePlayed"),
        (MOVE | {"score": {"light": "1", "dark": 0}}, "{'light': '1', 'dark': 0} does not fit the field 'score'"),
        (MOVE | {"ruled": "no"}, "'no' does not fit the field 'ruled' of MovePlayed"),
        (ILLEGAL | {"square": "z0"}, "'z0' does not fit the field 'square' of IllegalPlacement"),
        (ILLEGAL | {"content": "."}, "'.' does not fit the field 'content' of IllegalPlacement"),
        (ILLEGAL | {"reason": "mood"}, "'mood' does not fit the field 'reason' of IllegalPlacement"),
        (ILLEGAL | {"legal": "a1"}, "'a1' does not fit the field 'legal' of IllegalPlacement"),
        (ILLEGAL | {"legal": [1]}, "[1] does not fit the field 'legal' of IllegalPlacement"),
        (ILLEGAL | {"legal": None}, "None does not fit the field 'legal' of IllegalPlacement"),
        (ASKED | {"question": "why"}, "'why' does not fit the field 'question' of ChoiceNeeded"),
    ],
)  # fmt: skip
def test_what_is_no_event_is_refused_by_name(told, message):
    with pytest.raises(ValueError) as refused:
        Event.from_dict(told)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("content", ALL_CONTENTS, ids=str)
def test_a_content_reads_back_from_its_text(content):
    assert parse_content(content_text(content)) == content


@pytest.mark.parametrize("text", ["", "dark", "dark knight", "pusher dark"])
def test_what_is_no_content_is_refused(text):
    with pytest.raises(ValueError):
        parse_content(text)

"""The 200 recorded games, ply by ply: what was legal, who played what, how the score ran, what was left."""

import json
from pathlib import Path

import pytest

from companion.rules import Colour, Game, IllegalMoveError

RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "games.jsonl").read_text(encoding="utf-8").splitlines()
]


def names(squares):
    return {str(square) for square in squares}


def test_there_are_200_games_under_both_first_move_rules():
    assert len(RECORDED) == 200
    assert {told["first_move"] for told in RECORDED} == {"outside", "anywhere"}


@pytest.mark.parametrize("told", RECORDED, ids=lambda told: f"game-{told['id']}")
def test_a_recorded_game_is_played_as_it_was(told):
    game = Game.start(first=told["first_move"])
    for number, ply in enumerate(told["plies"], start=1):
        if ply["pass"]:
            assert ply["legal"] == []
        else:
            assert game.to_move is Colour(ply["player"])
            assert names(game.legal_squares()) == set(ply["legal"])
            assert len(game.history) == number - 1
            game = game.play(ply["move"])
        entry = game.history[number - 1]
        assert (str(entry), entry.colour) == (ply["move"], Colour(ply["player"]))
        assert game.score.as_dict() == ply["score"]

    assert len(game.history) == len(told["plies"])
    assert game.to_move is None
    assert game.legal_squares() == frozenset()
    assert {str(colour): game.pieces_left(colour) for colour in Colour} == told["left"]
    assert {str(colour): sum(game.in_hand(colour).values()) for colour in Colour} == told["left"]
    assert game.outcome.score.as_dict() == told["final"]
    assert (str(game.outcome.winner) if game.outcome.winner else "draw") == told["winner"]


@pytest.mark.parametrize("told", RECORDED[::10], ids=lambda told: f"game-{told['id']}")
def test_every_square_that_was_not_legal_is_refused(told):
    game = Game.start(first=told["first_move"])
    for ply in (ply for ply in told["plies"] if not ply["pass"]):
        for square in set(game.layout) - game.legal_squares():
            with pytest.raises(IllegalMoveError) as refused:
                game.play(f"{square}{ply['move'][2:]}")
            assert refused.value.reason == "square"
            assert names(refused.value.legal) == set(ply["legal"])
        game = game.play(ply["move"])


@pytest.mark.parametrize("told", RECORDED, ids=lambda told: f"game-{told['id']}")
def test_a_recorded_game_replays_from_its_texts_and_stands_as_it_stood(told):
    texts = [ply["move"] for ply in told["plies"]]
    game = Game.replay(texts, first=told["first_move"])
    assert [str(ply) for ply in game.history] == texts
    assert game.outcome.score.as_dict() == told["final"]
    middle = len(texts) // 2
    assert [str(ply) for ply in game.after(middle).history][:middle] == texts[:middle]
    assert game.after(len(texts)) == game

"""Random games through firmware, serial port, link, table and page: every move exact, nothing lost."""

import random

import pytest

from companion.rules import Game, Layout
from tests.firmware.games import Page, TiledTable


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_whole_game_is_followed_through_pulled_cables_garbage_and_resets(board, seed):
    board.tell("noise 4")
    table = TiledTable(board)
    page = Page(table.table)
    told = table.play(random.Random(seed), trouble=0.5, page=page)
    page.close()
    table.close()
    assert told.exact
    assert told.game.outcome is not None
    assert table.table.referee.game.history == told.game.history
    assert table.table.referee.game.score == told.game.score
    assert sum(told.troubles.values()) > 0


@pytest.mark.slow
def test_a_game_on_two_multiplexers_is_followed_to_its_end(simulator):
    game = Game.start(layout=Layout.parse("8x4"), sets=2)
    with simulator(len(game.layout)) as board:
        board.tell("noise 4")
        table = TiledTable(board, game)
        told = table.play(random.Random(3), trouble=0.03)
        table.close()
    assert told.game.outcome is not None
    assert len(told.played) > 20
    assert table.table.referee.game.history == told.game.history
    assert table.table.referee.game.score == told.game.score

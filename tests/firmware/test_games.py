"""Random games through firmware, serial port, link and table: every move exact, nothing lost."""

import random

import pytest

from tests.firmware.games import TiledTable


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_whole_game_is_followed_through_pulled_cables_garbage_and_resets(board, seed):
    board.tell("noise 4")
    table = TiledTable(board)
    told = table.play(random.Random(seed), trouble=0.5)
    table.close()
    assert told.game.outcome is not None
    assert table.table.referee.game.history == told.game.history
    assert table.table.referee.game.score == told.game.score
    assert sum(told.troubles.values()) > 0

"""Spare pieces beside the board are found by the eyes that read the squares."""

from __future__ import annotations

import numpy as np
import pytest

from companion.rules import Layout
from companion.vision.pieces import Recogniser, Tone
from companion.vision.rectify import SQUARE, away_side, patches, rectify
from companion.vision.spares import BESIDE, find_spares
from tests.bench.stress.shows import disturbed_game
from tests.bench.stress.studio import Studio

LAYOUT = Layout.parse("4x4")
TABLES = (302, 306)
"""Numbers of drawn tables on which sixteen pieces lie in two columns on each side of the board."""


@pytest.fixture(scope="module")
def recogniser():
    return Recogniser.bundled()


def laid_out(number):
    """A drawn table before the first move: its top view, which side is away, and where its pieces lie in it."""
    show = disturbed_game(number)
    picture = next(iter(show.frames())).image
    corners = np.array(Studio(show.look, np.random.default_rng(0)).corners(), float)
    lying = [piece for some in show.stage.spares.values() for piece in some]
    places = np.array([(piece.x, 4 - piece.y) for piece in lying]) * SQUARE + BESIDE
    return rectify(picture, corners, LAYOUT, margin=BESIDE), away_side(corners, LAYOUT), places


def found_on(recogniser, view, away):
    cut = patches(view, LAYOUT, away)
    tone = Tone.of(cut)
    squares = recogniser.embed(cut, tone)
    return find_spares(recogniser, view, LAYOUT, away, tone, squares), squares


@pytest.mark.parametrize("number", TABLES)
def test_most_of_the_pieces_beside_the_board_are_found(recogniser, number):
    view, away, places = laid_out(number)
    inside = ((places > SQUARE) & (places < len(view) - SQUARE)).all(axis=1).sum()
    found, squares = found_on(recogniser, view, away)
    assert 0.7 * inside <= len(found) <= 1.1 * inside
    assert (recogniser.judge(np.concatenate([squares, found]))[len(squares) :, 1:-1].sum(axis=1) > 0.9).all()


def test_none_are_found_where_there_are_none(recogniser):
    view, away, _ = laid_out(TABLES[0])
    bare = view.copy()
    for side in range(4):
        np.rot90(bare, side)[: BESIDE - 12] = np.median(view[BESIDE - 16 : BESIDE - 12, BESIDE:-BESIDE], axis=(0, 1))
    found, _ = found_on(recogniser, bare, away)
    assert len(found) == 0


def test_a_board_that_fills_the_picture_has_none_in_sight(recogniser):
    view, away, _ = laid_out(TABLES[0])
    board = np.zeros_like(view)
    inside = slice(BESIDE - 12, 12 - BESIDE)
    board[inside, inside] = view[inside, inside]
    found, squares = found_on(recogniser, board, away)
    assert found.shape == (0, squares.shape[1])

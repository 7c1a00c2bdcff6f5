"""What the tolerances of resistors, contacts, leakage and noise may do, on the simulated chip: nothing."""

import itertools
import random

import pytest

from calibration.tiles import KINDS, empty_sighting, fit_windows, sighting
from companion.rules import Layout
from companion.tiles import wire
from companion.tiles.wire import Acknowledged, RawCodes, SaveBands, SendRaw, SetBand, Snap, State
from tests.firmware.simulated import OHM, Speaker

PIECES = wire.BAND_LETTERS[1:9]
CONTACT_OHM = 400
LEAK_UA = 1
NOISE_CODES = 4
CORNERS = list(itertools.product((-1, 1), repeat=3))
"""Every sign of the tolerance of the pieces, of that of the pull-ups, and of the leakage."""


def set_corner(board, tolerance, corner):
    """Bring a board to one corner of its tolerances; how much the resistance of every piece is off."""
    piece, pull_up, leak = corner
    board.tell(f"noise {NOISE_CODES}")
    board.tell(f"leak {LEAK_UA * leak}")
    for pin in range(8):
        board.tell(f"pullup {pin} {10_000 * (1 + tolerance * pull_up)}")
    return 1 + tolerance * piece


def lay(board, letters, factor, contacts):
    """Lay one letter on each square, with these resistances of the contacts."""
    for square, (letter, contact) in enumerate(zip(letters, contacts, strict=True)):
        board.tell(f"contact {square} {contact}")
        board.put_ohm(square, OHM[letter] and OHM[letter] * factor)


def told_letters(speaker):
    large = speaker.board.squares > 32
    speaker.listen(0.8 if large else 0.1)  # the changes of a large board take a while on the cable
    answers = speaker.say(Snap(1), listen_s=0.1 if large else 0.02)
    return next(message for message in answers if isinstance(message, State)).letters


def misread(laid, told):
    return sum(a not in {b, "?"} for a, b in zip(told, laid, strict=True))


def placements(speaker, factor, rounds, seed):
    """Lay random pieces on all squares, again and again; how many were laid, misread, and not read."""
    dice = random.Random(seed)
    wrong = unknown = 0
    squares = speaker.board.squares
    for _ in range(rounds):
        laid = dice.choices(PIECES, k=squares)
        contacts = [dice.choice((0, CONTACT_OHM, dice.uniform(0, CONTACT_OHM))) for _ in laid]
        lay(speaker.board, laid, factor, contacts)
        told = told_letters(speaker)
        wrong += misread(laid, told)
        unknown += told.count("?")
    return squares * rounds, wrong, unknown


def calibrate(speaker, factor):
    """Fit the windows as the guided calibration does, with contacts as they happen to be."""
    board = speaker.board
    speaker.say(SendRaw(1, on=True))
    dice = random.Random(7)

    def samples():
        speaker.listen(0.1)
        return [message.codes for message in speaker.listen(0.35) if isinstance(message, RawCodes)]

    lay(board, "." * 16, factor, [0] * 16)
    empty = empty_sighting(samples(), Layout.parse("4x4"))
    seen = []
    for kind, letter in zip(KINDS, PIECES, strict=True):
        lay(board, letter * 2 + "." * 14, factor, [dice.uniform(0, CONTACT_OHM) for _ in range(16)])
        seen.append(sighting(kind, samples(), Layout.parse("4x4")))
    for band, window in enumerate(fit_windows(seen, empty), start=1):
        assert any(isinstance(said, Acknowledged) for said in speaker.say(SetBand(2, band, window.low, window.high)))
    assert any(isinstance(said, Acknowledged) for said in speaker.say(SaveBands(3), listen_s=0.3))
    speaker.say(SendRaw(4, on=False), listen_s=0.3)


@pytest.mark.parametrize("corner", [(-1, -1, -1), (-1, 1, 1), (1, -1, -1), (1, 1, 1)])
def test_one_per_cent_parts_need_no_calibration(speaker, corner):
    factor = set_corner(speaker.board, 0.01, corner)
    for contact in (0, CONTACT_OHM):
        lay(speaker.board, PIECES * 2, factor, [contact] * 16)
        assert told_letters(speaker) == PIECES * 2


@pytest.mark.parametrize("corner", [(-1, -1, 1), (1, 1, -1)])
def test_the_fastest_board_reads_as_well(simulator, corner):
    with simulator(128) as board:
        speaker = Speaker(board)
        speaker.start()
        factor = set_corner(board, 0.01, corner)
        lay(board, PIECES * 16, factor, [0, CONTACT_OHM] * 64)
        assert told_letters(speaker) == PIECES * 16


@pytest.mark.slow
@pytest.mark.parametrize("corner", [(1, -1, -1), (-1, 1, 1)])
def test_five_per_cent_parts_read_right_after_calibration(speaker, corner):
    factor = set_corner(speaker.board, 0.05, corner)
    calibrate(speaker, factor)
    laid, wrong, unknown = placements(speaker, factor, rounds=4, seed=3)
    assert (laid, wrong, unknown) == (64, 0, 0)

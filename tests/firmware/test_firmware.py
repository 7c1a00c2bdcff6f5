"""The very firmware, on a simulated chip with a simulated board around it."""

from dataclasses import replace
from itertools import pairwise

import pytest

from companion.tiles import light, wire
from companion.tiles.wire import (
    DEFAULT_BANDS,
    PALETTE,
    Acknowledged,
    Changed,
    DefaultBands,
    Heartbeat,
    Hello,
    Hi,
    Light,
    Ping,
    RawCodes,
    Refused,
    SaveBands,
    SendRaw,
    SetBand,
    Snap,
    State,
    Trouble,
)
from tests.firmware.simulated import BYTE_CYCLES, SimulatedBoard, Speaker

EMPTY = "." * 16
USB_MA = 500
BOARD_MA = 50
LONGEST_LOW_CYCLES = 80
"""A longer pause between two bits may be the end of the frame for an LED; in cycles of 62.5 ns."""


def of(kind, messages):
    return [message for message in messages if isinstance(message, kind)]


def test_a_board_says_hello_and_then_what_lies_on_it(board):
    board.put(5, "p")
    hello, state = Speaker(board).start()
    assert hello == Hello(0, 0, 1, "1.0.0", "nano-1", 16, "P", 1, calibrated=False)
    assert state.letters == ".....p.........."


@pytest.mark.parametrize(("index", "letter"), list(enumerate(wire.BAND_LETTERS)))
def test_every_content_is_told_on_every_square(speaker, index, letter):
    for square in range(16):
        speaker.board.put(square, letter)
    changes = of(Changed, speaker.listen(0.4))
    if letter == ".":
        assert changes == []
        return
    assert sorted((change.index, change.old, change.new) for change in changes) == [
        (square, ".", letter) for square in range(16)
    ]


def test_a_piece_is_told_when_it_comes_and_when_it_goes_and_when_another_takes_its_place(speaker):
    told = []
    for letter in "SsU.":
        speaker.board.put(7, letter)
        told += of(Changed, speaker.listen(0.1))
    assert [(change.old, change.new) for change in told] == [(".", "S"), ("S", "s"), ("s", "U"), ("U", ".")]


def test_a_contact_that_bounces_is_told_once_and_right(speaker):
    speaker.board.put(2, "u", bounce_s=0.2)
    assert [change.new for change in of(Changed, speaker.listen(0.4))] == ["u"]


def test_a_resistance_between_the_windows_is_unknown_and_not_a_guess(speaker):
    speaker.board.put_ohm(4, 2600)  # reads 211, between 1k5 and 3k3
    assert [change.new for change in of(Changed, speaker.listen(0.8))] == ["?"]


def test_the_supply_cancels_out(board):
    for supply_mv in (4500, 5500):
        board.tell(f"supply {supply_mv}")
        for square, letter in enumerate(wire.BAND_LETTERS):
            board.put(square, letter)
        board.tell("power")
        assert of(State, Speaker(board).start())[0].letters == wire.BAND_LETTERS + "......"


@pytest.mark.parametrize("squares", [16, 128])
def test_slow_wires_do_not_leak_one_square_into_the_next(simulator, squares):
    with simulator(squares) as board:
        board.tell("capacity 1000")
        for square in range(0, squares, 2):
            board.put(square, "S")
        assert of(State, Speaker(board).start())[0].letters == "S." * (squares // 2)


@pytest.mark.parametrize("squares", [32, 128])
def test_larger_boards_read_every_square_on_its_own(simulator, squares):
    letters = (wire.BAND_LETTERS[1:] * 15)[:squares]
    with simulator(squares) as board:
        for square, letter in enumerate(letters):
            board.put(square, letter)
        told = Speaker(board).start()
    assert of(Hello, told)[0].squares == squares
    assert of(State, told)[0].letters == letters


# What the host says --------------------------------------------------------------------------------------------------


def test_hi_is_answered_with_hello_squares_and_acknowledgement(speaker):
    told = speaker.say(Hi(9))
    assert [type(message) for message in told] == [Hello, State, Acknowledged]
    assert told[-1].id == 9


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (Ping(1), None),
        (Snap(2), None),
        (Light(3, 0, PALETTE), None),
        (Light(4, 15, "L"), None),
        (Light(5, 15, "LL"), "range"),
        (Light(6, 0, "Z"), "arguments"),
        (SetBand(7, 3, 230, 300), None),
        (SetBand(8, 10, 0, 1), "arguments"),
        (SetBand(9, 1, 300, 200), "range"),
        (SetBand(10, 1, 0, 1024), "arguments"),
        (SendRaw(11, on=False), None),
        (SaveBands(12), None),
        (DefaultBands(13), None),
    ],
)
def test_a_command_is_obeyed_or_refused_by_its_id(speaker, command, why):
    answers = of(Acknowledged | Refused, speaker.say(command))
    assert [answer.id for answer in answers] == [command.id]
    assert getattr(answers[0], "why", None) == why


@pytest.mark.parametrize(
    ("body", "why"),
    [("FLY,1", "command"), ("LED,2", "arguments"), ("RAW,3,2", "arguments"), ("PING,4,5", "arguments")],
)
def test_what_is_no_command_is_refused(speaker, body, why):
    speaker.board.send(wire.frame(body))
    assert [answer.why for answer in of(Refused, speaker.listen(0.1))] == [why]


def test_a_damaged_line_is_complained_about_and_costs_no_other(speaker):
    good = wire.line(Ping(1))
    speaker.board.send(b"\xff\x00rubbish" + good.replace(b"G", b"g") + good)
    told = speaker.listen(0.1)
    assert [trouble.code for trouble in of(Trouble, told)] == ["crc"]
    assert [answer.id for answer in of(Acknowledged, told)] == [1]


def test_a_line_without_end_is_given_up(speaker):
    speaker.board.send(b"$" + b"x" * 300 + wire.line(Ping(1)))
    told = speaker.listen(0.1)
    assert [trouble.code for trouble in of(Trouble, told)] == ["long"]
    assert [answer.id for answer in of(Acknowledged, told)] == [1]


def test_every_line_is_numbered_and_the_heartbeat_sums_up(speaker):
    told = speaker.listen(3.0)
    assert [message.seq for message in told] == list(range(told[0].seq, told[0].seq + len(told)))
    beats = of(Heartbeat, told)
    assert len(beats) == 3
    assert {beat.state_crc for beat in beats} == {wire.crc(EMPTY)}
    assert [beat.ms // 1000 for beat in beats] == [1, 2, 3]


def test_raw_codes_come_ten_times_a_second_until_they_are_unwanted(speaker):
    speaker.board.put(0, "U")
    told = of(RawCodes, speaker.say(SendRaw(1, on=True), listen_s=1.0))
    assert 9 <= len(told) <= 11
    assert told[-1].codes == (512, *[1023] * 15)
    speaker.say(SendRaw(2, on=False))
    assert of(RawCodes, speaker.listen(1.0)) == []


# Calibration ---------------------------------------------------------------------------------------------------------


def test_a_staged_window_counts_from_the_moment_it_is_saved_and_after_the_power_was_off(speaker):
    speaker.board.put_ohm(0, 2600)  # reads 211, between the windows
    speaker.listen(1.0)
    speaker.say(SetBand(1, 1, 102, 215))
    assert of(State, speaker.say(Snap(2)))[0].letters[0] == "?"
    speaker.say(SaveBands(3), listen_s=0.5)
    assert of(State, speaker.say(Snap(4)))[0].letters[0] == "S"
    speaker.board.tell("power")
    hello, state = speaker.start()
    assert hello.calibrated
    assert state.letters[0] == "S"


def test_windows_that_overlap_are_refused(speaker):
    speaker.say(SetBand(1, 1, 102, 240))
    answers = of(Acknowledged | Refused, speaker.say(SaveBands(2), listen_s=0.5))
    assert answers == [replace(answers[0], id=2, why="overlap")]


def test_the_defaults_come_back(speaker):
    speaker.say(SetBand(1, 1, 102, 215))
    speaker.say(SaveBands(2), listen_s=0.5)
    speaker.say(DefaultBands(3), listen_s=0.5)
    speaker.board.tell("power")
    assert not of(Hello, speaker.start())[0].calibrated


def test_a_damaged_calibration_is_not_used_and_complained_about(speaker):
    speaker.say(SaveBands(2), listen_s=0.5)
    speaker.board.tell("eeprom 20 FFFF")
    speaker.board.tell("power")
    told = speaker.start()
    assert not of(Hello, told)[0].calibrated
    assert [trouble.code for trouble in of(Trouble, told)] == ["eeprom"]


@pytest.mark.parametrize("damage", ["20 FFFF", "17 00", "16 00", "16 FF"], ids=["window", "version", "mark", "no-mark"])
def test_a_piece_is_not_guessed_by_other_windows_than_those_that_are_damaged(speaker, damage):
    speaker.board.put_ohm(0, 2200)  # reads 184, which the firmware's own windows call a straight piece
    speaker.board.put_ohm(1, 0)
    speaker.say(SetBand(1, 1, 80, 110))
    speaker.say(SetBand(2, 2, 150, 220))
    speaker.say(SaveBands(3), listen_s=0.5)
    assert of(State, speaker.say(Snap(4)))[0].letters == "D!" + "." * 14
    speaker.board.tell(f"eeprom {damage}")
    speaker.board.tell("power")
    told = speaker.start()
    assert [trouble.code for trouble in of(Trouble, told)] == ["eeprom"]
    assert of(State, told)[0].letters == "?!" + "." * 14
    speaker.say(DefaultBands(5), listen_s=0.5)
    assert of(State, speaker.say(Snap(6)))[0].letters == "S!" + "." * 14
    speaker.board.tell("power")
    told = speaker.start()
    assert of(Trouble, told) == []
    assert of(State, told)[0].letters == "S!" + "." * 14


def test_what_another_program_has_left_in_the_memory_is_no_damage(board):
    board.tell("eeprom 16 0102030405060708")
    board.tell("power")
    board.put(0, "S")
    told = Speaker(board).start()
    assert of(Trouble, told) == []
    assert of(State, told)[0].letters[0] == "S"


def test_the_windows_of_the_firmware_are_those_of_the_virtual_board(speaker):
    edges = [edge for band in DEFAULT_BANDS for edge in (band[0] - 4, band[0] + 2, band[1] - 2, band[1] + 4)][1:-1]
    for batch in (edges[:16], edges[16:32], edges[32:]):
        for square, code in enumerate(batch):
            speaker.board.put_ohm(square, 10_000 * code / (1023 - code))
        letters = of(State, [*speaker.listen(0.6), *speaker.say(Snap(1))])[-1].letters
        assert letters[: len(batch)] == "".join(map(letter_of_code, batch))


def letter_of_code(code):
    hits = [letter for letter, (low, high) in zip(wire.BAND_LETTERS, DEFAULT_BANDS, strict=True) if low <= code <= high]
    return hits[0] if hits else "?"


# Starting anew -------------------------------------------------------------------------------------------------------


def test_the_board_knows_why_it_started_and_counts_its_starts(speaker):
    speaker.board.reset()
    assert (of(Hello, speaker.start())[0].cause, speaker.board) == ("E", speaker.board)
    speaker.board.tell("power")
    hello = of(Hello, speaker.start())[0]
    assert (hello.cause, hello.boots) == ("P", 3)


def test_a_board_that_hangs_is_reset_by_its_watchdog_and_says_so(speaker):
    speaker.board.tell("hang")
    told = speaker.listen(1.5)
    assert [(hello.cause, hello.boots) for hello in of(Hello, told)] == [("W", 2)]
    assert of(State, told)[0].letters == EMPTY


def test_a_power_cut_while_the_count_is_written_costs_one_count(speaker):
    for _ in range(3):
        speaker.board.tell("power")
        speaker.start()
    speaker.board.tell("eeprom 8 00000000")  # the slot that is written second
    speaker.board.tell("power")
    assert of(Hello, speaker.start())[0].boots in {4, 5}


def test_a_low_supply_is_complained_about_and_dims_the_lights(speaker):
    speaker.say(Light(1, 0, "T" * 16))
    bright = sum(map(sum, speaker.board.leds().pixels))
    speaker.board.tell("supply 3900")
    told = speaker.listen(3.5)
    assert {trouble.code for trouble in of(Trouble, told)} == {"supply"}
    assert sum(map(sum, speaker.board.leds().pixels)) < bright / 3
    assert of(Refused, speaker.say(SaveBands(2)))[0].why == "supply"


# Light ---------------------------------------------------------------------------------------------------------------


def test_a_frame_is_right_pulse_by_pulse(simulator):
    for squares in (16, 128):
        with simulator(squares) as board:
            speaker = Speaker(board)
            speaker.start()
            board.leds()
            for offset in range(0, squares, 64):
                speaker.say(Light(1, offset, (PALETTE * 12)[: min(64, squares)]))
            frame = board.leds()
        assert len(frame.pixels) == squares
        # in cycles of 62.5 ns: a 0 is high for 0.25 to 0.5 us, a 1 for 0.65 to 0.95; low for 0.3 us and more, but never
        # for so long (5 us) that an LED takes it for the end
        assert 4 <= frame.high_of_0[0] <= frame.high_of_0[1] <= 8
        assert 11 <= frame.high_of_1[0] <= frame.high_of_1[1] <= 15
        assert 5 <= frame.low[0] <= frame.low[1] <= LONGEST_LOW_CYCLES


def test_a_frame_waits_until_the_leds_have_taken_the_one_before_for_whole(speaker):
    for number in range(150):  # at every moment of the rhythm, and with much else to do
        speaker.board.put(number % 16, "Ss"[number // 16 % 2])
        speaker.say(Light(number, 0, ("XL" if number % 2 else "LX") * 8), listen_s=0.0143)
    assert speaker.board.leds().low[1] <= LONGEST_LOW_CYCLES


def test_every_letter_of_the_palette_looks_different_even_without_colours(speaker):
    speaker.say(Light(1, 0, PALETTE + "." * (16 - len(PALETTE))))
    rhythms = {letter: [] for letter in PALETTE}
    for _ in range(8):
        speaker.listen(0.125)
        for letter, (red, green, blue) in zip(PALETTE, speaker.board.leds().pixels, strict=False):
            rhythms[letter].append(round((0.3 * red + 0.6 * green + 0.1 * blue) / 4))
    assert len(set(map(tuple, rhythms.values()))) == len(PALETTE)
    assert set(rhythms["."]) == {0}
    assert max(rhythms["X"]) > min(rhythms["X"]) == 0


def test_the_palette_is_the_same_on_both_sides_of_the_cable():
    names = (light.DARK, light.LEGAL, light.HINT, light.LAST, light.WRONG, light.BACK)
    assert set(names) | {light.PASS, light.WON, light.OTHER, light.UNREADABLE, light.TEST} == set(PALETTE)


@pytest.mark.parametrize("squares", [16, 32, 128])
def test_no_picture_asks_more_of_the_cable_than_it_gives(simulator, squares):
    with simulator(squares) as board:
        speaker = Speaker(board)
        speaker.start()
        for letter in "TXW":
            for offset in range(0, squares, 64):
                speaker.say(Light(1, offset, letter * min(64, squares)), listen_s=0.05)
            for _ in range(2):
                speaker.listen(0.125)
                milliamps = sum(map(sum, board.leds().pixels)) * 20 / 255 + squares
                assert milliamps <= USB_MA - BOARD_MA


def test_the_lights_go_out_when_the_host_is_gone(speaker):
    speaker.say(Light(1, 0, "L" * 16))
    speaker.listen(4.5)
    assert any(map(any, speaker.board.leds().pixels))
    speaker.listen(0.7)
    assert not any(map(any, speaker.board.leds().pixels))


@pytest.mark.parametrize("squares", [16, 128])
def test_a_board_without_a_host_scans_on_as_fast_as_before(simulator, squares):
    with simulator(squares) as board:
        speaker = Speaker(board)
        speaker.start()
        speaker.say(Light(1, 0, "L" * 16))
        told = speaker.listen(8.0)
    assert of(Hello, told) == []
    scans = [beat.scans for beat in of(Heartbeat, told)]
    rates = [after - before for before, after in pairwise(scans)]
    assert max(rates) - min(rates) <= 2


def test_a_host_that_pings_keeps_the_lights(speaker):
    speaker.say(Light(1, 0, "L" * 16))
    for number in range(2):
        speaker.say(Ping(number), listen_s=3.0)
    assert all(map(any, speaker.board.leds().pixels))


@pytest.mark.parametrize("squares", [16, 128])
def test_the_receiver_is_looked_after_within_a_byte_time_whatever_else_goes_on(simulator, squares):
    with simulator(squares) as board:
        speaker = Speaker(board)
        speaker.start()
        for number in range(6):
            picture = ("XT" if number % 2 else "TX") * 32
            for offset in range(0, squares, 64):
                for square in range(number, squares, 7):
                    board.put(square, "Ss"[(number + offset) % 2])
                assert of(Acknowledged, speaker.say(Light(number, offset, picture[: min(64, squares)])))
            assert of(Acknowledged, speaker.say(Snap(100 + number)))
        assert 0 < board.longest_wait_cycles() < BYTE_CYCLES
        assert board.bytes_lost() == 0
        beat = of(Heartbeat, speaker.listen(1.1))[-1]
        assert (beat.bad, beat.overruns) == (0, 0)


def test_there_is_stack_to_spare_on_the_largest_board(simulator):
    with simulator(128) as board:
        speaker = Speaker(board)
        speaker.start()
        speaker.say(SaveBands(1), listen_s=1.0)
        speaker.say(SendRaw(2, on=True), listen_s=1.0)
        speaker.say(Light(3, 0, "T" * 64), listen_s=1.0)
        assert board.unused_stack() >= 128


def test_equal_commands_give_equal_answers(simulator):
    def story(board: SimulatedBoard):
        board.tell("noise 4")
        board.tell("seed 7")
        speaker = Speaker(board)
        told = speaker.start()
        board.put(3, "p", bounce_s=0.05)
        return told + speaker.listen(0.5)

    with simulator() as first, simulator() as second:
        assert story(first) == story(second)

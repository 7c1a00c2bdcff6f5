"""The conversation with a board, told as what was heard and what was said."""

from dataclasses import replace

import pytest

from companion.errors import LinkError
from companion.tiles import session as rules
from companion.tiles import wire
from companion.tiles.session import Session, Stage
from companion.tiles.virtual import HOST_GONE_S
from companion.tiles.wire import (
    Acknowledged,
    Changed,
    Heartbeat,
    Hello,
    Light,
    Ping,
    RawCodes,
    Refused,
    SaveBands,
    SendRaw,
    Snap,
    State,
)

EMPTY = "." * 16
HELLO = Hello(0, 10, 1, "1.0.0", "nano-1", 16, "E", 7, calibrated=False)


class Talk:
    """A session, and a clock that moves when it is told to."""

    def __init__(self):
        self.now = 100.0
        self.session = Session(self.now)
        self.seq = 0

    def hears(self, *messages):
        data = b""
        for message in messages:
            if isinstance(message, Hello):
                self.seq = message.seq
            data += wire.line(replace(message, seq=self.seq))
            self.seq = (self.seq + 1) % wire.SEQ_MODULUS
        return list(self.session.receive(data, self.now))

    def misses(self, message):
        """The board says it, and it is lost on the way."""
        self.seq += 1

    def says(self, after_s=0.0):
        """What the session says after some time, as values."""
        self.now += after_s
        tokens = wire.Tokenizer()
        tokens.feed(self.session.due(self.now))
        return [wire.parse(body) for body in tokens]

    def waits(self, seconds):
        """Let time pass in small steps."""
        for _ in range(int(seconds * 10)):
            self.says(after_s=0.1)

    def answers(self, command):
        self.hears(Acknowledged(0, 0, command.id))

    def settle(self):
        """Answer everything until there is nothing more to say."""
        said = []
        while commands := self.says():
            said += commands
            for command in commands:
                self.answers(command)
                if isinstance(command, Snap):
                    self.hears(State(0, 0, self.session.letters or EMPTY))
        return [replace(command, id=0) for command in said]


@pytest.fixture
def talk():
    talk = Talk()
    talk.hears(HELLO, State(0, 200, EMPTY))
    assert talk.session.stage is Stage.LIVE
    assert talk.settle() == []
    return talk


def test_a_board_that_was_reset_by_the_opening_says_hello_and_its_squares():
    talk = Talk()
    assert talk.says() == []
    talk.hears(HELLO)
    assert talk.session.letters is None
    assert talk.session.board == HELLO
    talk.hears(State(0, 200, EMPTY))
    assert talk.session.letters == EMPTY


@pytest.mark.parametrize("squares", [3, 16, 32])
def test_what_lies_on_a_board_counts_once_it_has_said_how_many_squares_it_has(squares):
    talk = Talk()
    talk.hears(State(0, 0, "." * squares))
    assert talk.session.letters is None
    assert [wire.spell(said) for said in talk.says()] == ["HI,1"]


def test_a_board_that_stays_silent_is_asked_after_three_seconds():
    talk = Talk()
    assert talk.says(after_s=2.9) == []
    assert [wire.spell(said) for said in talk.says(after_s=0.1)] == ["HI,1"]


def test_a_board_that_was_not_reset_is_asked_who_it_is_at_its_first_line():
    talk = Talk()
    talk.hears(Heartbeat(0, 0, 0, 1, 0, 0))
    assert [wire.spell(said) for said in talk.says()] == ["HI,1"]


def test_what_never_answers_is_no_board():
    talk = Talk()
    talk.says(after_s=3.0)
    with pytest.raises(LinkError, match="no tile board answers within 6 s"):
        talk.waits(10)


def test_a_board_that_speaks_and_does_not_answer_is_told_as_such():
    talk = Talk()
    talk.hears(Heartbeat(0, 0, 0, 1, 0, 0))
    talk.waits(1)
    talk.hears(Heartbeat(0, 0, 0, 2, 0, 0))
    with pytest.raises(LinkError, match="does not answer HI,1, though it can be heard"):
        talk.waits(1)


@pytest.mark.parametrize("protocol", [0, 2])
def test_another_protocol_is_refused_with_what_to_do(protocol):
    talk = Talk()
    with pytest.raises(LinkError, match=f"protocol {protocol} and this program protocol 1; flash the firmware"):
        talk.hears(replace(HELLO, protocol=protocol))


def test_a_hello_of_a_later_protocol_that_is_spelt_otherwise_is_recognised_too():
    talk = Talk()
    with pytest.raises(LinkError, match="does not know"):
        list(talk.session.receive(wire.frame("HELLO,0,1,mijnlieff-board,9,extra,1.0.0,nano-1"), talk.now))


def test_an_event_changes_one_square(talk):
    talk.hears(Changed(0, 300, 5, ".", "S"))
    assert talk.session.letters == ".....S.........."
    assert talk.settle() == []


def test_the_host_says_that_it_is_there_once_a_second(talk):
    assert talk.says(after_s=0.9) == []
    (ping,) = talk.says(after_s=0.1)
    assert isinstance(ping, Ping)
    talk.answers(ping)
    assert talk.says(after_s=0.9) == []


@pytest.mark.parametrize(
    ("name", "happening"),
    [
        ("a line is lost", lambda talk: (talk.misses("E"), talk.hears(Heartbeat(0, 0, wire.crc(EMPTY), 1, 0, 0)))),
        ("the checksum of the squares differs", lambda talk: talk.hears(Heartbeat(0, 0, 0, 1, 0, 0))),
        ("an event does not fit", lambda talk: talk.hears(Changed(0, 0, 5, "S", "."))),
        ("an event is about no square", lambda talk: talk.hears(Changed(0, 0, 16, ".", "S"))),
    ],
)
def test_the_squares_are_asked_for_again_when(talk, name, happening):
    happening(talk)
    (said,) = talk.says()
    assert isinstance(said, Snap)
    talk.answers(said)
    talk.hears(State(0, 0, "S" * 16))
    assert talk.session.letters == "S" * 16
    assert talk.settle() == []


def test_the_sequence_may_go_round(talk):
    talk.seq = 65535
    talk.hears(Heartbeat(0, 0, wire.crc(EMPTY), 1, 0, 0))
    gaps = talk.session.counters.gaps
    assert talk.settle() == [Snap(0)]
    talk.hears(Heartbeat(0, 0, wire.crc(EMPTY), 1, 0, 0))
    assert talk.seq < 10
    assert talk.session.counters.gaps == gaps


def test_garbage_between_lines_loses_nothing_but_itself(talk):
    list(talk.session.receive(b"\xff\x00$E,3,$$*\n", talk.now))
    talk.hears(Changed(0, 300, 5, ".", "S"))
    assert talk.session.letters == ".....S.........."
    assert talk.session.damaged >= 1
    assert talk.settle() == []


def test_a_reset_in_mid_game_forgets_what_was_known_and_asks_and_lights_again(talk):
    talk.session.show("L" * 16)
    talk.settle()
    talk.hears(replace(HELLO, boots=8, cause="W"))
    assert talk.session.letters is None
    assert talk.session.counters.resets == 1
    assert talk.settle() == [Snap(0), Light(0, 0, "L" * 16)]


def test_after_a_gap_the_board_is_lit_again_for_it_may_have_started_anew(talk):
    talk.session.show("L" * 16)
    talk.session.send_raw(on=True)
    talk.settle()
    talk.seq = 0
    talk.misses(HELLO)
    talk.hears(State(0, 200, EMPTY))
    assert talk.settle() == [Light(0, 0, "L" * 16), SendRaw(0, on=True)]


def test_after_a_gap_an_led_that_has_to_go_dark_is_told_so_too():
    talk = Talk()
    talk.hears(replace(HELLO, squares=128), State(0, 0, "." * 128))
    talk.session.show("L" * 128)
    talk.settle()
    talk.misses("E")
    talk.session.show("." * 128)
    talk.hears(Heartbeat(0, 0, wire.crc("." * 128), 1, 0, 0))
    assert talk.settle() == [Snap(0), Light(0, 0, "." * 64), Light(0, 64, "." * 64)]


@pytest.mark.parametrize(("away_s", "lit_again"), [(4.0, []), (5.0, [Light(0, 0, "L" * 16)])])
def test_a_board_that_may_have_heard_nothing_for_five_seconds_is_lit_again(talk, away_s, lit_again):
    talk.session.show("L" * 16)
    talk.settle()
    talk.now += away_s
    talk.hears(Heartbeat(0, 0, wire.crc(EMPTY), 1, 0, 0))
    assert talk.settle() == [Ping(0), *lit_again]
    assert talk.settle() == []


def test_a_ping_that_came_late_because_it_had_to_be_repeated_lights_the_board_again(talk):
    talk.session.show("L" * 16)
    talk.settle()
    talk.now += 4.8
    talk.hears(Heartbeat(0, 0, wire.crc(EMPTY), 1, 0, 0))
    (lost,) = talk.says()
    (ping,) = talk.says(after_s=0.31)
    assert ping == lost
    talk.answers(ping)
    assert talk.settle() == [Light(0, 0, "L" * 16)]


def test_a_command_that_a_reset_leaves_unanswered_is_done_without_an_answer(talk):
    request = talk.session.ask(SaveBands(0))
    talk.says()
    assert not request.done
    talk.hears(replace(HELLO, boots=8, cause="B"))
    assert (request.done, request.dropped, request.answer) == (True, True, None)
    assert talk.settle() == [Snap(0)]


def test_a_reset_is_noticed_even_if_the_board_cannot_count_its_starts(talk):
    talk.hears(Changed(0, 300, 5, ".", "S"))
    talk.hears(HELLO)
    assert talk.session.letters is None


def test_a_command_that_is_not_answered_is_repeated_twice(talk):
    talk.session.ask(SaveBands(0))
    (first,) = talk.says()
    assert talk.says(after_s=0.29) == []
    assert talk.says(after_s=0.02) == [first]
    assert talk.says(after_s=0.31) == [first]
    assert talk.says(after_s=0.31) == []
    talk.hears(Heartbeat(0, 0, wire.crc(EMPTY), 1, 0, 0))
    with pytest.raises(LinkError, match="does not answer CAL,"):
        talk.says(after_s=0.31)


def test_one_command_is_outstanding_at_a_time(talk):
    requests = [talk.session.ask(SaveBands(0)) for _ in range(3)]
    (first,) = talk.says()
    assert talk.says(after_s=0.1) == []
    talk.answers(first)
    assert requests[0].done
    assert not requests[1].done
    (second,) = talk.says()
    assert second.id != first.id


def test_a_refusal_is_an_answer(talk):
    request = talk.session.ask(SaveBands(0))
    talk.says()
    talk.hears(Refused(0, 0, request.command.id, "overlap"))
    assert request.answer.why == "overlap"
    assert talk.settle() == []


def test_the_late_answer_to_a_repeat_is_not_taken_for_another_commands(talk):
    talk.session.ask(SaveBands(0))
    (first,) = talk.says()
    talk.says(after_s=0.3)
    talk.answers(first)
    second = talk.session.ask(SaveBands(0))
    talk.says()
    talk.answers(first)
    assert not second.done


def test_only_what_has_changed_is_lit_and_only_the_latest_wish_counts(talk):
    talk.session.show("L" * 16)
    talk.session.show("M" + "." * 15)
    assert talk.settle() == [Light(0, 0, "M" + "." * 15)]
    talk.session.show("M" + "." * 15)
    assert talk.settle() == []


def test_a_large_board_is_lit_in_stretches():
    talk = Talk()
    talk.hears(replace(HELLO, squares=128), State(0, 0, "." * 128))
    talk.session.show("." * 100 + "L" * 28)
    assert talk.settle() == [Light(0, 64, "." * 36 + "L" * 28)]
    talk.session.show("M" + "." * 99 + "L" * 28)
    assert talk.settle() == [Light(0, 0, "M" + "." * 63)]


def test_silence_for_three_seconds_is_the_end(talk):
    with pytest.raises(LinkError, match="said nothing for 3 s"):
        talk.waits(4)


def test_raw_codes_are_asked_for_and_kept(talk):
    talk.session.send_raw(on=True)
    assert talk.settle() == [SendRaw(0, on=True)]
    talk.hears(RawCodes(0, 0, tuple(range(16))))
    assert talk.session.codes == tuple(range(16))
    talk.session.send_raw(on=False)
    assert talk.settle() == [SendRaw(0, on=False)]


def test_times_are_those_of_the_contract():
    assert (rules.HELLO_S, rules.ANSWER_S, rules.TRIES, rules.PING_S, rules.SILENCE_S) == (3.0, 0.3, 3, 1.0, 3.0)
    assert rules.DARK_S == HOST_GONE_S


def test_a_conversation_may_be_cut_anywhere():
    messages = [HELLO, State(1, 200, EMPTY), Changed(2, 300, 5, ".", "S"), Heartbeat(3, 1000, 0, 1, 0, 0)]
    stream = b"".join(wire.line(message) for message in messages)
    for cut in range(len(stream)):
        session = Session(0.0)
        got = [*session.receive(stream[:cut], 0.0), *session.receive(stream[cut:], 0.0)]
        assert got == messages
        assert session.letters == ".....S.........."


def test_a_board_whose_word_of_who_it_is_was_damaged_is_asked_again():
    """Before, it was never read, as all it said besides showed that it was there."""
    talk = Talk()
    talk.hears(Heartbeat(0, 0, 0, 1, 0, 0))
    [asked] = talk.says()
    talk.answers(asked)
    talk.hears(State(0, 200, EMPTY))
    assert talk.says(after_s=0.9) == []
    [again] = talk.says(after_s=0.1)
    assert (asked.id, wire.spell(replace(again, id=1))) == (1, "HI,1")
    talk.hears(HELLO, State(0, 200, EMPTY))
    assert (talk.session.stage, talk.session.letters) == (Stage.LIVE, EMPTY)

"""Bytes become lines, lines become values, and back."""

import doctest
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.tiles import wire
from companion.tiles.wire import (
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
    Tokenizer,
    Trouble,
    WireError,
    frame,
    line,
    parse,
    spell,
)

SPELT = [
    (
        Hello(0, 5, 1, "1.0.0", "nano-1", 16, "P", 3, calibrated=False),
        "HELLO,0,5,mijnlieff-board,1,1.0.0,nano-1,16,P,3,0",
    ),
    (State(1, 195, "S.p?!..........."), "S,1,195,S.p?!..........."),
    (Changed(65535, 4294967295, 3, ".", "S"), "E,65535,4294967295,3,.,S"),
    (Heartbeat(2, 1000, 0x0A1F, 104, 0, 7), "H,2,1000,0A1F,104,0,7"),
    (RawCodes(3, 1100, (1023, 0, 133)), "R,3,1100,1023,0,133"),
    (Acknowledged(4, 1200, 9), "A,4,1200,9"),
    (Refused(5, 1300, 9, "overlap"), "N,5,1300,9,overlap"),
    (Trouble(6, 1400, "crc"), "X,6,1400,crc"),
    (Hi(1), "HI,1"),
    (Ping(2), "PING,2"),
    (Snap(3), "SNAP,3"),
    (SendRaw(4, on=True), "RAW,4,1"),
    (Light(5, 0, "LLM.X"), "LED,5,0,LLM.X"),
    (SetBand(6, 3, 223, 307), "CAL,6,3,223,307"),
    (SaveBands(7), "CAL,7,SAVE"),
    (DefaultBands(8), "CAL,8,DEFAULT"),
]


def bodies(data, *, portions=None):
    tokens = Tokenizer()
    got = []
    for portion in portions or [data]:
        tokens.feed(portion)
        got += tokens
    return got


@pytest.mark.parametrize(("value", "body"), SPELT)
def test_every_message_is_spelt_as_the_contract_says_and_read_back(value, body):
    assert spell(value) == body
    assert parse(body) == value


def test_the_table_above_has_every_message_and_every_command():
    assert {type(value) for value, _ in SPELT} == set(wire.SPELLINGS)
    assert set(typing.get_args(wire.Message)) | set(typing.get_args(wire.Command)) == set(wire.SPELLINGS)


def test_the_checksum_is_that_of_the_contract():
    assert wire.crc("123456789") == 0x31C3  # the check value of CRC-16/XMODEM
    assert frame("HI,1") == b"$HI,1*%04X\n" % wire.crc("HI,1")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Q,1,2",
        "S,1,195",
        "S,1,195,",
        "S,65536,195,....",
        "S,1,4294967296,....",
        "S,-1,195,....",
        "S,1,195,..Z.",
        "E,1,2,3,.",
        "E,1,2,3,.,S,S",
        "H,1,2,0a1f,1,2,3",
        "HELLO,0,5,another-board,1,1.0.0,nano-1,16,P,3,0",
        "HELLO,0,5,mijnlieff-board,1,1.0.0,nano-1,16,P,3,2",
        "R,1,2,",
        "R,1,2,5,,6",
        "CAL,1,SAVE,now",
        "LED,1,0",
        "PING,\u0661",
    ],
)
def test_a_line_that_is_whole_but_makes_no_sense_is_named(body):
    with pytest.raises(WireError, match=r"message of protocol|not below"):
        parse(body)


def test_a_stream_may_be_cut_anywhere():
    stream = b"".join(line(value) for value, _ in SPELT)
    whole = bodies(stream)
    assert whole == [body for _, body in SPELT]
    for cut in range(len(stream)):
        assert bodies(None, portions=[stream[:cut], stream[cut:]]) == whole


def test_a_stream_may_come_byte_by_byte():
    stream = b"".join(line(value) for value, _ in SPELT)
    assert bodies(None, portions=[bytes([byte]) for byte in stream]) == [body for _, body in SPELT]


@pytest.mark.parametrize(
    "noise", [b"\x00\xff", b"$", b"$S,1,", b"*0000\n", b"\r\n", b"$$$", b"$PING,1*0000\n", b"\xf0\n"]
)
def test_noise_between_lines_costs_no_line(noise):
    tokens = Tokenizer()
    tokens.feed(line(Ping(1)) + noise + line(Ping(2)))
    assert list(tokens) == ["PING,1", "PING,2"]
    assert (tokens.damaged == 0) == (noise == b"\r\n")


def test_a_carriage_return_is_ignored():
    assert bodies(line(Hi(1)).replace(b"\n", b"\r\n")) == ["HI,1"]


def test_one_wrong_bit_anywhere_loses_the_line_and_only_that():
    good = line(Changed(7, 1200, 3, ".", "S"))
    for at in range(len(good)):
        for bit in range(8):
            bad = bytearray(good)
            bad[at] ^= 1 << bit
            got = bodies(bytes(bad) + b"\n" + good)
            assert got[-1:] == ["E,7,1200,3,.,S"]
            assert set(got) == {"E,7,1200,3,.,S"}


def test_an_endless_line_is_not_kept():
    tokens = Tokenizer()
    for _ in range(10):
        tokens.feed(b"$" + b"x" * 500)
        assert list(tokens) == []
    assert len(tokens._bytes) <= 2 * wire.LONGEST_BODY
    tokens.feed(b"\n" + line(Hi(1)))
    assert list(tokens) == ["HI,1"]


@given(st.binary(max_size=200), st.integers(0, 65535))
def test_no_bytes_can_hide_a_line_after_a_newline(noise, number):
    got = bodies(noise + b"\n" + line(Ping(number)))
    assert got[-1] == f"PING,{number}"


@given(st.text(max_size=40))
def test_no_body_breaks_the_parser(body):
    try:
        value = parse(body)
    except WireError:
        return
    assert parse(spell(value)) == value


def test_the_examples_of_the_documentation_are_true():
    assert doctest.testmod(wire).failed == 0

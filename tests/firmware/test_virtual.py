"""The board that is not there answers as the firmware does."""

from companion.tiles import wire
from companion.tiles.virtual import VirtualBoard
from companion.tiles.wire import Acknowledged, Refused, State, Trouble
from tests.firmware.simulated import Speaker

ANSWERS = State | Acknowledged | Refused | Trouble
ASKED = [
    *("LED,1,0,", "LED,2,16,", "LED,3,17,", "LED,4,15,LL", "LED,5,15,##", "LED,6,0,#", "LED,7,0", "LED,8,0,L,L"),
    *("PING,0000000009", "LED,10,0000000,L", "LED,11,0000017,L", "RAW,12,00", "RAW,13,02", "RAW,14,"),
    *("CAL,15,0000000,00000000,0000069", "CAL,16,0,0,0001024", "CAL,17,00010,0,1", "CAL,18,1,300,200"),
    *("PING,65536", "PING,00065535", "PING,", "PING", "PING,1x", "HI,1,", "SNAP,", "FLY,19", "FLY"),
    *("CAL,20", "CAL,21,SAVE,", "CAL,22,SAVE", "CAL,23,DEFAULT"),
]
"""Lines of which every one is whole, and not every one makes sense."""


class Pretended:
    """A virtual board, led as the simulated one is."""

    squares = 16

    def __init__(self):
        self.now = 0.0
        self.board = VirtualBoard(self.squares, lambda: self.now)
        self.send = self.board.hear

    def run(self, seconds):
        self.now += seconds
        return self.board.speak()


def answers(speaker, body):
    """What is said to a line, without numbers and times; in no order, for a board that stores takes its time."""
    speaker.board.send(wire.frame(body))
    heard = speaker.listen(0.5 if body.endswith(("SAVE", "DEFAULT")) else 0.1)
    told = [wire.spell(message).split(",") for message in heard if isinstance(message, ANSWERS)]
    return sorted(",".join(word for at, word in enumerate(words) if at not in (1, 2)) for words in told)


def test_the_board_that_is_not_there_answers_every_line_as_the_firmware_does(speaker):
    pretended = Speaker(Pretended())
    pretended.start()
    told = {body: answers(pretended, body) for body in ASKED}
    assert told == {body: answers(speaker, body) for body in ASKED}

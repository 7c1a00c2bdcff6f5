"""A camera may be told to look for another board; what shows a recorded game may not."""

import math
from unittest.mock import Mock

import numpy as np
import pytest

from companion.camera import Camera, Frame
from companion.commands.sources import open_source
from companion.errors import RulesError, SourceError, VisionError
from companion.pace import Paced
from companion.rules import Layout
from companion.vision.legible import BLURRED
from companion.vision.pose import BoardPose

STANDARD, RING = Layout.parse("4x4"), Layout.parse("ring")


class Frames:
    name, live = "camera:0", True

    def read(self, timeout_s):
        return None

    def close(self):
        pass


class Reader:
    why_not, unseen_s, pose = "", math.inf, None

    def __init__(self, layout):
        self.layout, self.sets = layout, None

    def expect(self, sets):
        self.sets = sets


def test_a_camera_gets_a_reader_of_the_new_board():
    camera = Camera(Frames(), Reader(STANDARD), reader_for=Reader)
    first = camera.reader
    camera.lay_out(STANDARD, 1)
    assert (camera.reader is first, first.sets) == (True, 1)
    camera.lay_out(RING, 2)
    assert (camera.reader.layout, camera.reader.sets) == (RING, 2)
    assert camera.trouble == ""


def test_a_game_that_was_recorded_or_drawn_keeps_its_board():
    with open_source("virtual:", STANDARD) as source:
        source.lay_out(STANDARD, 1)
        with pytest.raises(RulesError, match="virtual: shows a board of 4x4; for ring, watch a camera or a tile board"):
            Paced(source, lambda: 0.0, lambda _: None).lay_out(RING, 1)
        assert source.reader.layout == STANDARD


@pytest.mark.parametrize(
    ("why", "trouble"),
    [
        ("it is dark", "the board is not found: it is dark; give its corners"),
        (BLURRED, BLURRED),
        ("it is hidden; give its outer corners", "the board is not found: it is hidden; give its outer corners"),
        ("", ""),
    ],
)
def test_what_is_wrong_is_said_once_and_what_to_do_once(why, trouble):
    reader = Reader(STANDARD)
    reader.why_not = why
    assert Camera(Frames(), reader).trouble == trouble


def test_who_has_seen_the_board_is_not_told_to_give_its_corners():
    reader = Reader(STANDARD)
    reader.why_not, reader.unseen_s, reader.pose = (
        "it is covered",
        6.0,
        BoardPose(((0, 0), (1, 0), (1, 1), (0, 1)), 1.0),
    )
    assert Camera(Frames(), reader).trouble == "the board is not found: it is covered"


def test_a_camera_is_lost_while_its_pictures_cannot_be_worked_with():
    frames, reader = Frames(), Reader(STANDARD)
    frames.read = lambda _: Frame(1.0, np.zeros((9, 9, 3), np.uint8))
    reader.read = Mock(side_effect=[VisionError("the lens was measured in others"), "a reading"])
    camera = Camera(frames, reader)
    with pytest.raises(SourceError, match="camera:0: the lens was measured in others"):
        camera.read(0)
    assert camera.read(0) == "a reading"


def test_a_board_that_was_seen_a_moment_ago_is_not_told_as_not_found():
    reader = Reader(STANDARD)
    reader.why_not, reader.unseen_s = "it is covered", 4.9
    assert Camera(Frames(), reader).trouble == ""
    reader.unseen_s = 5.0
    assert "it is covered" in Camera(Frames(), reader).trouble

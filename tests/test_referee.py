"""Stories at the table: what people do, and what the program tells. Each line: what happens, then what is told."""

from __future__ import annotations

import pytest

from companion.readings import EMPTY, contents_of
from companion.rules import Square
from tests.stories import Scene, piece, told

WORKED_EXAMPLE = (
    ["a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>", "c1x", "d2><", "d3+", "d4x", "-", "b4x", "-", "b3<>", "b1<>"]
)  # fmt: skip

# A step is (what a person does, what is told within the next 0.8 s). Words: put, lift, hand, misread, wait.
STORIES = {
    "a move is told once": [
        ("put a1 L+", ["light a1+"]),
        ("wait 5", []),
    ],
    "a hand over the new piece holds the move back until it has gone": [
        ("hand a1 b1", []),
        ("put a1 L+", []),
        ("hand b1", []),
        ("hand", ["light a1+"]),
    ],
    "a piece put down and moved before the hand leaves is one move": [
        ("hand d1", []),
        ("put d1 L+", []),
        ("hand d1 c2", []),
        ("lift d1; put c1 L+", []),
        ("hand", ["light c1+"]),
    ],
    "two quick moves come in the only legal order": [
        ("hand a1 a3", []),
        ("put a3 D><; put a1 L+", []),
        ("hand", ["light a1+", "dark a3><"]),
    ],
    "two orders of three quick moves are asked about": [
        ("hand a1 a2 a3", []),
        ("put a1 L+; put a3 L+; put a2 D+", []),
        ("hand", ["asks order"]),
    ],
    "a piece on a wrong square is illegal until it is moved": [
        ("put a1 L+", ["light a1+"]),
        ("put c3 D+", ["illegal c3 square"]),
        ("wait 3", []),
        ("lift c3; put a3 D+", ["dark a3+"]),
    ],
    "a reply that was made meanwhile follows the illegal piece that is set right": [
        ("put a1 L+", ["light a1+"]),
        ("put c3 D+", ["illegal c3 square"]),
        ("put b3 Lx", []),
        ("lift c3", ["illegal b3 turn"]),
        ("put a3 D+", ["dark a3+", "light b3x"]),
    ],
    "a lifted illegal piece puts nothing in another order that lay there before": [
        ("put a1 L+", ["light a1+"]),
        ("put c3 D+; wait 1.2", ["illegal c3 square"]),
        ("put b4 Lx; wait 1.2", []),
        ("put a4 D+; wait 1.2", []),
        ("lift c3; wait 1.2", ["illegal b4 turn"]),
        ("put a3 D+", ["asks order"]),
    ],
    "a piece that came too early may be lifted and put down again": [
        ("put a1 D+", ["illegal a1 turn"]),
        ("put d1 L+", []),
        ("lift a1", ["light d1+"]),
        ("put a1 D+", ["dark a1+"]),
    ],
    "an illegal piece that is seen better and better is told of once": [
        ("misread b2 L+LxL<>L><; put b2 L+; wait 1", ["illegal b2 square"]),
        ("misread b2 L+Lx; wait 1", []),
        ("misread b2; wait 1", []),
        ("lift b2; put a1 L+; wait 1", ["light a1+"]),
    ],
    "a first piece whose colour shows only beside another was not its player's": [
        ("misread a1 L+D+; put a1 D+; wait 3", ["light a1+"]),
        ("put b4 Lx; wait 2", ["illegal b4 turn"]),
        ("misread a1; wait 6", ["taken back a1+", "illegal a1 turn"]),
        ("lift a1", ["light b4x"]),
    ],
    "both players took the other's colour": [
        ("misread a1 L+D+; put a1 D+; wait 3", ["light a1+"]),
        ("misread a1 L+D+ a3 LxDx; put a3 Lx; wait 3", ["dark a3x"]),
        ("misread a1; wait 6", ["taken back a3x", "illegal a3 turn", "taken back a1+", "illegal a1 turn"]),
    ],
    "a second piece of the first player's, whose colour shows later": [
        ("put a1 L+; wait 1", ["light a1+"]),
        ("misread a3 LxDx; put a3 Lx; wait 3", ["dark a3x"]),
        ("misread a3; wait 6", ["taken back a3x", "illegal a3 turn"]),
        ("lift a3; put a4 Dx", ["dark a4x"]),
    ],
    "a first piece whose colour shows only beside another was its player's": [
        ("misread a1 L+D+; put a1 L+; wait 3", ["light a1+"]),
        ("put a3 Dx; misread a1; wait 3", ["dark a3x"]),
        ("misread a1 D+; wait 3", ["disturbed a1"]),
        ("misread a1; wait 6", ["restored a1"]),
    ],
    "a piece of the wrong colour": [
        ("put a1 D+", ["illegal a1 turn"]),
        ("lift a1; put a1 L+", ["light a1+"]),
    ],
    "a third piece of a kind": [
        ("play a1+ a2+ a3+ a4+", ["light a1+", "dark a2+", "light a3+", "dark a4+"]),
        ("put b4 L+", ["illegal b4 kind"]),
    ],
    "placements after an illegal one are held, and played after the repair": [
        ("put a1 L+", ["light a1+"]),
        ("put c3 D+", ["illegal c3 square"]),
        ("put a4 D+", []),
        ("lift c3", ["dark a4+"]),
    ],
    "what may be meant is asked of a piece that waits for others before it": [
        ("play a3x", ["light a3x"]),
        ("misread c1 D+Dx; put c1 D+; wait 2", ["unclear c1"]),
        ("put b2 D+", []),
        ("misread b1 L+L><; put b1 L+; put a1 L><; put c1 D><; wait 2", ["unclear b1"]),
        ("lift a1; misread b1; wait 5.4", ["dark b2+", "light b1+", "dark c1><"]),
    ],
    "a piece of the game that goes and comes back": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("lift a1", ["disturbed a1"]),
        ("put a1 L+", ["restored a1"]),
    ],
    "the last move taken back and played elsewhere": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("lift a2", ["disturbed a2"]),
        ("put a3 D+", ["taken back a2+", "dark a3+"]),
    ],
    "the last move taken back and played elsewhere, as what is not clear": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("lift a2", ["disturbed a2"]),
        ("misread a3 DxD><; put a3 Dx", []),
        ("wait 1", ["unclear a3"]),
        ("wait 3", []),
        ("misread a3; wait 5.4", ["taken back a2+", "dark a3x"]),
    ],
    "the same, and it may be the piece that was taken back": [
        ("play a1+ a2+; lift a2", ["light a1+", "dark a2+", "disturbed a2"]),
        ("misread a3 D+Dx; put a3 D+; wait 2", ["unclear a3"]),
        ("lift a3; put a2 D+", ["restored a2"]),
    ],
    "the last piece moved to where it is hardly seen is asked about": [
        ("play a1+ a2+; lift a2", ["light a1+", "dark a2+", "disturbed a2"]),
        ("hand a3; misread a3 .D+; put a3 D+", []),
        ("hand; wait 17", []),
        ("wait 5", ["unclear a3"]),
        ("misread a3; wait 6", ["taken back a2+", "dark a3+"]),
    ],
    "and sooner, once there is a reply to it": [
        ("play a1+ a2+; lift a2", ["light a1+", "dark a2+", "disturbed a2"]),
        ("hand a3; misread a3 .D+; put a3 D+", []),
        ("hand; put b3 Lx; wait 3", ["unclear a3"]),
        ("misread a3; wait 6", ["taken back a2+", "dark a3+", "light b3x"]),
    ],
    "what may lie elsewhere is asked no more when the last piece is back": [
        ("hand a3; misread a3 .D+", []),
        ("hand; wait 10", []),
        ("play a1+ a2+; lift a2; wait 10", ["light a1+", "dark a2+", "disturbed a2"]),
        ("wait 15", ["unclear a3"]),
        ("put a2 D+", ["restored a2"]),
        ("put d3 Lx; wait 3", ["illegal d3 square"]),
    ],
    "the last piece exchanged for one that is hardly seen": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("hand a2; lift a2; misread a2 .DxD><", []),
        ("put a2 Dx; hand", ["disturbed a2"]),
        ("wait 25", ["unclear a2"]),
        ("misread a2; wait 6", ["taken back a2+", "dark a2x"]),
    ],
    "the last piece exchanged for one that is not clear": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("hand a2; misread a2 DxD><; lift a2; put a2 D><", []),
        ("hand", ["disturbed a2"]),
        ("wait 1", ["unclear a2"]),
        ("wait 3", []),
        ("misread a2; wait 5.4", ["taken back a2+", "dark a2><"]),
    ],
    "nothing is played on a last piece that looks like another": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("misread a1 Lx; wait 1", ["disturbed a1"]),
        ("hand a2; lift a2; put a2 D><", []),
        ("hand", ["disturbed a2"]),
        ("put a3 L+; wait 3", []),
        ("misread a1", ["restored a1", "taken back a2+", "dark a2><", "light a3+"]),
    ],
    "the last two moves taken back, another played": [
        ("play a1+ a2+ b2x", ["light a1+", "dark a2+", "light b2x"]),
        ("lift b2; lift a2; put a4 Dx", ["taken back b2x", "taken back a2+", "dark a4x"]),
    ],
    "the last piece swapped for another of the same player": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("hand a2; lift a2; put a2 D<>", []),
        ("hand", ["taken back a2+", "dark a2<>"]),
    ],
    "a last piece that is seen as another, though nobody was there": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("misread a2 Dx", ["disturbed a2"]),
        ("put a3 L+; wait 2", ["unclear a2"]),
        ("misread a2; wait 5.4", ["restored a2", "light a3+"]),
    ],
    "pieces whose order is asked may be lifted to show it": [
        ("hand a1 a2 a3", []),
        ("put a1 L+; put a3 L+; put a2 D+", []),
        ("hand", ["asks order"]),
        ("lift a1", []),
        ("put a1 L+; wait 3", []),
        ("lift a1; wait 2.5", []),
        ("wait 1.5", ["light a3+", "dark a2+"]),
    ],
    "an earlier move is changed after the reply": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("lift a1", ["disturbed a1"]),
        ("put b1 Lx; wait 10", []),
        ("lift b1; put a1 L+", ["restored a1"]),
    ],
    "another match is laid while the pieces of this one are swept away": [
        ("play a1+ a2+ a3+ a4+", ["light a1+", "dark a2+", "light a3+", "dark a4+"]),
        ("hand a1 a2 a3 a4 b4", []),
        ("lift a1; lift a2; lift a3; lift a4; put b4 L+", []),
        ("hand", ["asks new"]),
    ],
    "the last piece swapped for one that may be the same is asked about, unless it becomes clear": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("lift a2", ["disturbed a2"]),
        ("misread a2 D+Dx; put a2 Dx", []),
        ("wait 1", ["unclear a2"]),
        ("put b2 Lx", []),
        ("lift b2", []),
        ("misread a2; wait 5.4", ["taken back a2+", "dark a2x"]),
    ],
    "the last piece back as itself, seen badly for a moment": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("lift a2", ["disturbed a2"]),
        ("misread a2 D+Dx; put a2 D+; wait 0.6", []),
        ("misread a2", ["restored a2"]),
    ],
    "an older piece that moved is not a new move": [
        ("play a1+ a2+", ["light a1+", "dark a2+"]),
        ("lift a1; put b2 L+", ["disturbed a1"]),
        ("lift b2; put a1 L+", ["restored a1"]),
    ],
    "a nudge, a hand and a shadow change nothing": [
        ("put a1 L+", ["light a1+"]),
        ("hand a1 a2 b1 b2", []),
        ("wait 4", []),
        ("hand", []),
        ("misread a1 L+Lx", []),
        ("misread a1", []),
    ],
    "an unclear kind is asked about, unless it becomes clear": [
        ("misread a1 L<>L><", []),
        ("put a1 L<>; wait 1", ["unclear a1"]),
        ("misread a1", ["light a1<>"]),
    ],
    "the supply of two tells what the picture does not": [
        ("play a1<> c3<> a3<> d1<>", ["light a1<>", "dark c3<>", "light a3<>", "dark d1<>"]),
        ("misread d4 L<>L><; put d4 L><", ["light d4><"]),
    ],
    "a reply that only one of two kinds allows does not tell the kind: it may be the mistake itself": [
        ("misread a1 L+L><; put a1 L+; put a4 D+; wait 5", ["unclear a1"]),
        ("misread a1; wait 5.4", ["light a1+", "dark a4+"]),
    ],
    "a reply that would be illegal after one of two kinds is told of once the kind is known": [
        ("misread a1 L+L><; put a1 L><; put a4 D+; wait 5", ["unclear a1"]),
        ("misread a1; wait 5.4", ["light a1><", "illegal a4 square"]),
    ],
    "a move on an unclear square is asked about when the reply makes it needed": [
        ("misread a1 .L+; hand a1", []),
        ("put a1 L+", []),
        ("hand", []),
        ("put a2 D+", ["unclear a1"]),
        ("misread a1", ["light a1+", "dark a2+"]),
    ],
    "what may lie there besides is asked about before an order is taken for the only one": [
        ("put a1 L+", ["light a1+"]),
        ("hand a2 b1 b2", []),
        ("misread b1 .D+; put a2 D+; put b1 D+; put b2 L+", []),
        ("hand; wait 1", []),
        ("wait 1", ["unclear b1"]),
        ("misread b1", ["asks order"]),
    ],
    "what may lie there besides, and may have for long, is asked about, too": [
        ("misread a4 .D<>; wait 1", []),
        ("hand a1 a4 d3 c3", []),
        ("put a1 L<>; put a4 D<>; put d3 L+; put c3 D><", []),
        ("hand; wait 2", ["unclear a4"]),
    ],
    "two pieces that may both have been played before what is seen are asked about": [
        ("misread a1 .L+ a3 .D<>; hand a1", []),
        ("put a1 L+; hand", []),
        ("hand a3", []),
        ("put a3 D<>; hand", []),
        ("put d1 Lx; wait 3", ["unclear a1"]),
        ("misread; wait 6", ["light a1+", "dark a3<>", "light d1x"]),
    ],
    "nor does a hand that rests on one of them make it less of a piece": [
        ("misread a1 .L+ a3 .D<>; hand a1", []),
        ("put a1 L+; hand", []),
        ("hand a3", []),
        ("put a3 D<>; hand", []),
        ("hand a3; put d1 Lx; wait 6", ["unclear a1"]),
        ("hand; misread; wait 6", ["light a1+", "dark a3<>", "light d1x"]),
    ],
    "two pieces that are hardly seen are asked about before what follows them is called illegal": [
        ("put a1 L+", ["light a1+"]),
        ("misread a3 .D>< a4 .L+; hand a3", []),
        ("put a3 D><; hand", []),
        ("hand a4", []),
        ("put a4 L+; hand", []),
        ("put b4 D<>; wait 3", ["unclear a3"]),
        ("misread; wait 6", ["dark a3><", "light a4+", "dark b4<>"]),
    ],
    "nor is it where an illegal piece lies among the others": [
        ("hand a1 a2 a3 c1 b3", []),
        ("misread a1 .L+; put a1 L+; put a2 D+; put a3 Lx; put c1 D+; put b3 L+", []),
        ("hand; wait 5", ["unclear a1"]),
    ],
    "nor where more lies there than can be put in order": [
        ("put a1 L+", ["light a1+"]),
        ("hand a2 a3 c1 d1 b4 d4", []),
        ("misread a2 .D+; put a2 D+; put a3 Lx; put c1 D+; put d1 L><; put b4 D<>; put d4 L+", []),
        ("hand; wait 5", ["unclear a2"]),
    ],
    "what may lie there besides is asked about before any order is": [
        ("hand a1 a2 a3 c1 d1 c2", []),
        ("misread a1 .L+; put a1 L+; put a2 D+; put a3 Lx; put c1 D+; put d1 L><; put c2 D<>", []),
        ("hand; wait 5", ["unclear a1"]),
    ],
    "what may lie there besides decides nothing where it changes no order": [
        ("put a1 L+", ["light a1+"]),
        ("hand a2 c3 b2", []),
        ("misread c3 .D+; put a2 D+; put b2 L+", []),
        ("hand", ["dark a2+", "light b2+"]),
    ],
    "what is held back decides nothing while a part of it is out of sight": [
        ("put a1 L+", ["light a1+"]),
        ("misread a4 D+D><; put a4 D+; wait 2", ["unclear a4"]),
        ("put b4 L+", []),
        ("put b3 D<>", []),
        ("put d4 Lx", []),
        ("hand a3", []),
        ("hand", []),
        ("misread a4; wait 5.4", ["dark a4+", "light b4+", "dark b3<>", "light d4x"]),
    ],
    "pieces that a hand may hold, and others that came with them, are put in no order by guessing": [
        ("held a2 a4; put a1 L+; put a3 D><; put b2 L><; put a2 L+; put a4 D<>; wait 2", []),
        ("held", ["asks order"]),
    ],
    "a piece that lies elsewhere waits for one that may be held, and is played when that is gone": [
        ("held a3; put a3 D><; put a1 L+; wait 1", []),
        ("lift a3; held", ["light a1+"]),
    ],
    "a piece astride two squares is played on neither, until it is seen to lie on one": [
        ("put a1 L+", ["light a1+"]),
        ("hand a3 b3; misread b3 .L><D><; put a3 D><", []),
        ("hand", []),
        ("wait 1.5", ["unclear b3"]),
        ("misread b3; wait 1", ["dark a3><"]),
    ],
    "nor is it a move of each player": [
        ("put a1 L+", ["light a1+"]),
        ("misread b3 L><D><; put a3 D><; put b3 D><", []),
        ("wait 1.5", ["unclear b3"]),
        ("misread b3; lift b3; wait 1", ["dark a3><"]),
    ],
    "a square that may have held a piece before holds up none beside it": [
        ("put a1 L+", ["light a1+"]),
        ("hand b3; misread b3 .L><D><", []),
        ("hand; wait 1", []),
        ("put a3 D><", ["dark a3><"]),
    ],
    "nor does one that may hold another piece": [
        ("put a1 L+", ["light a1+"]),
        ("hand a3 b3; misread b3 .L+; put a3 D><", []),
        ("hand", ["dark a3><"]),
    ],
    "a board emptied in mid-game is asked about": [
        ("play a1+ a2+ a3+", ["light a1+", "dark a2+", "light a3+"]),
        ("lift a1; lift a2; lift a3", ["asks new"]),
        ("put a1 L+; put a2 D+; put a3 L+", []),
        ("play a4<>", ["dark a4<>"]),
    ],
}  # fmt: skip


def do(scene: Scene, step: str) -> list[str]:
    heard: list[str] = []
    waited = False
    for deed in step.split("; "):
        verb, *words = deed.split()
        match verb:
            case "put":
                scene.put(*words)
            case "lift":
                scene.lift(*words)
            case "hand":
                scene.hand(*words)
            case "held":
                scene.held = {Square.parse(square) for square in words}
            case "misread":
                pairs = zip(words[::2], words[1::2], strict=False)
                scene.misread = {Square.parse(square): misread(pieces) for square, pieces in pairs}
            case "play":
                heard += scene.play(*words)
            case "wait":
                heard += scene.look(float(words[0]))
                waited = True
    return heard if waited else heard + scene.look(0.8)


def misread(text: str) -> int:
    contents = EMPTY if text.startswith(".") else 0
    parts = text.lstrip(".").replace("L", " L").replace("D", " D").split()
    return contents | contents_of(piece(part) for part in parts)


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_story(story):
    scene = Scene()
    assert scene.look(1) == []
    for step, expected in story:
        assert do(scene, step) == expected, step


def test_worked_example_with_passes_last_chance_and_score():
    scene = Scene()
    scene.look(1)
    heard = scene.play(*WORKED_EXAMPLE)
    assert list(map(str, scene.game.history)) == WORKED_EXAMPLE
    assert heard[-4:] == ["light b3<>", "last chance dark", "dark b1<>", "over 4-1"]
    assert heard.count("dark passes") == 2


def test_many_held_placements_are_played_in_order_once_the_first_is_clear():
    scene = Scene()
    scene.look(1)
    scene.misread = {Square.parse("a1"): misread("L+L><")}
    moves = ["a1+", "a2+", "a3+", "a4+", "b4x", "c3x", "d4<>", "b1x"]
    for ply, move in enumerate(moves):
        scene.hand(move[:2])
        scene.look(0.4)
        scene.put(move[:2], ("L", "D")[ply % 2] + move[2:])
        scene.hand()
        heard = scene.look(0.9)
        assert heard in ([], ["unclear a1"])
    scene.misread = {}
    heard = scene.look(5.4)
    assert [line.split()[1] for line in heard[: len(moves)]] == moves


def test_where_nothing_may_lie_that_is_an_answer_too():
    scene = Scene()
    scene.look(1)
    scene.play("a1+")
    scene.hand("a3")
    scene.look(0.5)
    scene.misread = {Square.parse("a3"): misread(".D><")}
    scene.hand()
    scene.look(25)
    assert scene.events[-1].contents == (None, piece("D><"))
    scene.referee.answer(scene.time, Square.parse("a3"), None)
    assert scene.play("a4x", "b3+") == ["dark a4x", "light b3+"]


def test_that_nothing_may_lie_there_is_an_answer_wherever_it_may():
    scene = Scene()
    scene.look(1)
    scene.play("a1+")
    scene.hand("a2", "b1", "b2")
    scene.look(0.5)
    scene.misread = {Square.parse("b1"): misread(".D+DxD<>D><")}
    scene.put("a2", "D+")
    scene.put("b2", "L+")
    scene.hand()
    assert scene.look(4) == ["unclear b1"]
    assert scene.events[-1].contents == (None, piece("D+"), piece("Dx"), piece("D<>"), piece("D><"))
    heard = scene.referee.answer(scene.time, Square.parse("b1"), None)
    assert [told(event) for event in heard] == ["dark a2+", "light b2+"]

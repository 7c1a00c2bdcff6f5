"""Whole matches as ``.mjn`` text: written, read back, and pointed at where they are wrong."""

import pytest

from companion.errors import NotationError, RulesError
from companion.rules import Colour, Game, Layout, MatchText, Score, Square, parse_moves
from tests.rules.pictures import WORKED_EXAMPLE, position

LIGHT, DARK = Colour.LIGHT, Colour.DARK
WRITTEN = """\
[Event "Kitchen table"]
[Site "Gent"]
[Date "2026.11.21"]
[Light "Ann \\"Aces\\" O'Neil"]
[Dark "Bo \\\\ Co"]
[First "outside"]
[Layout "4x4"]
[Sets "1"]
[Variant "standard"]
[Termination "normal"]
[Result "4-1"]
[Log "c0ffee"]
[Lamp "dim"]

1. a1+ a3>< 2. a2+ a4<> 3. b2>< c2+ 4. c3<> c1x 5. d2>< d3+ 6. d4x - 7. b4x - 8.
b3<> b1<> 4-1
"""


def worked_example():
    return Game.replay(parse_moves(WORKED_EXAMPLE))


def test_a_match_is_written_with_its_tags_in_order_and_its_moves_wrapped():
    tags = {
        "Lamp": "dim",
        "Log": "c0ffee",
        "Light": 'Ann "Aces" O\'Neil',
        "Dark": "Bo \\ Co",
        "Date": "2026.11.21",
        "Event": "Kitchen table",
        "Site": "Gent",
    }
    match = MatchText(worked_example(), tags)
    assert match.write() == WRITTEN
    assert MatchText.read(WRITTEN) == match
    assert all(len(line) <= 80 for line in WRITTEN.splitlines())


def test_an_unfinished_match_ends_in_a_star():
    text = MatchText(Game.replay(["a1+", "a3><"])).write()
    assert text.splitlines()[-3:] == ['[Result "*"]', "", "1. a1+ a3>< *"]
    assert "Termination" not in text
    assert MatchText.read(text).game == Game.replay(["a1+", "a3><"])


def test_a_match_without_a_move_is_a_match():
    text = MatchText(Game.start("anywhere")).write()
    assert text.endswith('[Result "*"]\n\n*\n')
    assert MatchText.read(text) == MatchText(Game.start("anywhere"))
    assert MatchText.read("") == MatchText(Game.start())


def test_a_match_keeps_its_rules_board_and_sets():
    game = Game.start("anywhere", layout=Layout.parse("..##/..##/##../##.."), sets=2).play("b2+").play("a2x")
    text = MatchText(game).write()
    for tag in ('[First "anywhere"]', '[Layout "..##/..##/##../##.."]', '[Sets "2"]'):
        assert tag in text
    assert MatchText.read(text).game == game


def test_a_ruled_move_is_written_with_its_player_and_read_back():
    game = Game.start().play("a1+").play("c3><", ruled=True).play("d4x", colour=DARK, ruled=True)
    text = MatchText(game).write()
    assert text.splitlines()[-1] == "1. a1+ D:c3><! 2. D:d4x! *"
    assert MatchText.read(text).game == game


def test_a_resigned_match_keeps_the_score_that_stood_and_names_its_winner():
    game = Game.replay(parse_moves(WORKED_EXAMPLE)[:9])
    match = MatchText(game, {"Termination": "resigned", "Winner": "dark"})
    assert (match.result, match.winner, match.resigned) == ("1-0", DARK, True)
    text = match.write()
    assert '[Termination "resigned"]\n[Winner "dark"]\n[Result "1-0"]\n' in text
    assert text.endswith("5. d2>< 1-0\n")
    assert MatchText.read(text) == match


def test_a_resigned_match_may_leave_its_result_open():
    match = MatchText.read('[Termination "resigned"]\n\n1. a1+ *')
    assert (match.result, match.winner) == ("0-0", None)


def test_an_abandoned_match_has_no_result_and_no_winner():
    match = MatchText(Game.replay(["a1+"]), {"Termination": "abandoned"})
    assert (match.result, match.winner) == ("*", None)
    assert MatchText.read(match.write()) == match


def test_a_finished_match_knows_its_winner_from_the_moves():
    assert MatchText(worked_example()).winner is LIGHT
    assert MatchText.read(f'[Winner "light"]\n\n{WORKED_EXAMPLE}').winner is LIGHT


@pytest.mark.parametrize(
    ("drawing", "to_move", "last", "moves", "tags"),
    [
        ("#### #p## D### ####", LIGHT, "b3", ["d4+", "a4x"],
         '[Position "..../.p../D.../...."]\n[ToMove "light"]\n[Last "b3"]\n'),
        ("#### #p## D### ####", DARK, "a2", ["b1+"],
         '[Position "..../.p../D.../...."]\n[ToMove "dark"]\n[Last "a2"]\n'),
        ("#### #p## D### ####", DARK, None, [], '[Position "..../.p../D.../...."]\n[ToMove "dark"]\n[Variant'),
        ("P### S### dpu# spud", LIGHT, "a1", ["-", "d4+", "b4x"],
         '[Position "P.../S.../dpu./spud"]\n[ToMove "light"]\n[Last "a1"]\n'),
        ("..#p ..## ##.. S#..", DARK, "a1", ["b1x"],
         '[Position "...p/..../..../S..."]\n[ToMove "dark"]\n[Last "a1"]\n'),
    ],
)  # fmt: skip
def test_a_match_joined_in_progress_tells_where(drawing, to_move, last, moves, tags):
    game = position(drawing, to_move, last)
    for move in moves:
        game = game if move == "-" else game.play(move)
    text = MatchText(game).write()
    assert tags in text
    assert MatchText.read(text).game == game
    assert MatchText.read(text).write() == text


def test_a_joined_match_in_which_dark_moves_first_is_numbered_so():
    game = position("#### #p## D### ####", DARK, "a2").play("b1+").play("b4x")
    assert MatchText(game).write().endswith("1... b1+ 2. b4x *\n")


@pytest.mark.parametrize(
    "text",
    [
        WORKED_EXAMPLE,
        f"{WORKED_EXAMPLE} 4-1",
        f"{WORKED_EXAMPLE} *",
        f"{WORKED_EXAMPLE} # 4-1",
        f'[Result "4-1"]\n{WORKED_EXAMPLE}',
        f'  [ Event  "x" ]  [Result "*"]\n\n\n{WORKED_EXAMPLE}\n\n4-1\n',
        f'\ufeff[First "outside"]\r\n\r\n{WORKED_EXAMPLE.replace(" 5.", chr(13) + chr(10) + "5.")} 4-1\r\n',
        f'[Event "one line"] {WORKED_EXAMPLE}',
        WORKED_EXAMPLE.replace(" a3><", " 1... a3><").replace("3. b2>< ", "03.\n\nb2>< 3.").replace("2. ", ""),
        WORKED_EXAMPLE.replace("-", "(passa)").replace(" b1<>", ", b1<>#"),
    ],
)
def test_a_match_is_read_however_it_is_laid_out(text):
    match = MatchText.read(text)
    assert match.game == worked_example()
    assert match.result == "4-1"
    assert match.game.score == Score(4, 1)


def test_a_tag_value_is_one_line():
    match = MatchText(Game.start(), {"Event": "two\nlines\u2028and\tmore"})
    assert match.tags["Event"] == "two lines and more"
    assert MatchText.read(match.write()) == match


def test_tags_that_the_game_knows_are_taken_from_the_game():
    match = MatchText(worked_example(), {"Result": "9-9", "First": "anywhere", "Sets": "7"})
    assert match == MatchText(worked_example())


def test_a_tag_that_could_not_be_read_back_is_not_written():
    with pytest.raises(RulesError) as refused:
        MatchText(Game.start(), {"My tag": "x"})
    assert str(refused.value) == "'My tag' is no name for a tag; use letters, digits and _, a letter first"


HEAD = '[Event "x"]\n'
A_DAY = "write year, month and day, such as 2026.11.23, with ?? for what is not known"
JOIN = '[Position "..../.p../D.../...."]'
GOES_ON = (
    'after these moves the game is not over; leave it out, or write [Termination "resigned"] where a player gave up'
)
ANOTHER = "a match ends here and another begins; put each into a file of its own"
NOT_OVER = 'after these moves the game is not over; write *, or [Termination "resigned"] where a player gave up'
NOT_TILED = (
    "2x2 boards cannot tile this layout: no board fits at c1 without overlap; "
    "every square must belong to exactly one 2x2 board"
)


def misnumbered(move, told):
    return f"this is move {move}, not {told}; a move is missing, stands twice, or has a wrong number"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("[Event x]", 1, 1, "'[Event x]' is no tag; write [Name \"value\"]"),
        (f"{HEAD}  [Event", 2, 3, "'[Event' is no tag; write [Name \"value\"]"),
        (f'{HEAD}[Site "a] 1. a1+', 2, 1, "'[Site \"a] 1. a1+' is no tag; write [Name \"value\"]"),
        (f'{HEAD}  [Event "y"]', 2, 3, "the tag Event stands twice"),
        ('[Event "x"] [Event "y"]', 1, 13, "the tag Event stands twice"),
        ('[First "inside"]', 1, 1, "First is 'inside'; it must be one of outside, anywhere"),
        (f'{HEAD}[Variant "blue-box"]', 2, 1, "Variant is 'blue-box'; it must be one of standard, green-box"),
        ('[Termination "tired"]', 1, 1, "Termination is 'tired'; it must be one of normal, resigned, abandoned"),
        ('[Winner "Ann"]', 1, 1, "Winner is 'Ann'; it must be one of light, dark, draw"),
        (f'{HEAD}[Date "2026-13-45"]', 2, 1, f"Date is '2026-13-45'; {A_DAY}"),
        ('[Date "2026.00.01"]', 1, 1, f"Date is '2026.00.01'; {A_DAY}"),
        ('[Date "2027.02.29"]', 1, 1, f"Date is '2027.02.29'; {A_DAY}"),
        ('[Date "????.02.30"]', 1, 1, f"Date is '????.02.30'; {A_DAY}"),
        ('[Date "0000.01.01"]', 1, 1, f"Date is '0000.01.01'; {A_DAY}"),
        ('[Date "23.11.2026"]', 1, 1, f"Date is '23.11.2026'; {A_DAY}"),
        ('[Date "2026.11-23"]', 1, 1, f"Date is '2026.11-23'; {A_DAY}"),
        ('[Date "last Sunday"]', 1, 1, f"Date is 'last Sunday'; {A_DAY}"),
        (f'{HEAD}[Layout "###/###/###"]', 2, 1, NOT_TILED),
        ('[Sets "two"]', 1, 1, "Sets is 'two'; it must be a number from 1 to 9999"),
        ('[Sets "0"]', 1, 1, "Sets is '0'; it must be a number from 1 to 9999"),
        ('[Sets "10000"]', 1, 1, "Sets is '10000'; it must be a number from 1 to 9999"),
        ('[ToMove "dark"]', 1, 1, "ToMove belongs to a Position, and there is none"),
        ('[Last "a1"]', 1, 1, "Last belongs to a Position, and there is none"),
        (JOIN, 1, 1, 'a Position needs to say whose turn it is; add [ToMove "light"] or [ToMove "dark"]'),
        (f'{JOIN} [ToMove "red"]', 1, 34, "ToMove is 'red'; it must be one of light, dark"),
        (f'{JOIN} [ToMove "dark"] [Last "a9x"]', 1, 50,
         "'a9x' is not a square; write column and row, such as a1"),
        (f'{JOIN} [ToMove "dark"] [Last "b3"]', 1, 1,
         "the last piece played is the dark pusher on b3, so it is Light's turn"),
        ('[Position "..../...."] [ToMove "dark"]', 1, 1,
         "the position '..../....' must have 4 rows of 4, joined by /"),
        ('[Position "..../..../..../q..."] [ToMove "dark"]', 1, 1,
         ("the position '..../..../..../q...' has 'q'; "
          "write SDPU for light, sdpu for dark pieces and . for none")),
        (f"{HEAD}\n1. a1+ a3", 3, 8,
         "the move 'a3' has no mark; add + (straight), x (diagonal), <> (pusher) or >< (puller)"),
        (f"{HEAD}\n1. a1+\na2? *", 4, 1,
         "'a2?' is no move; write square and mark, such as a1+, c1x, a4<> or a3><, and - for a pass"),
        ('[Event "x"] a1+ b2+', 1, 17,
         "ply 2: b2 is not legal. Straight at a1: row 1 or column a (b1 c1 d1 a2 a3 a4)"),
        (f"{HEAD}\n1. a1+ -", 3, 8,
         ("ply 2: a pass is not forced here, so it is not allowed. "
          "Straight at a1: row 1 or column a (b1 c1 d1 a2 a3 a4)")),
        (f"{HEAD}\n{WORKED_EXAMPLE.replace('d4x -', 'd4x')}", 3, 71,
         ("ply 12: Dark had no legal square and passed; write - before b4x. "
          "Free play after Dark's pass: any empty square (b1 d1 b3 b4 c4)")),
        (f"{HEAD}\n1. a1+ a3><\n3. a2+ *", 4, 1, misnumbered(2, 3)),
        (f"{HEAD}\n1. a1+ a3>< 1. a2+ *", 3, 13, misnumbered(2, 1)),
        (f"{HEAD}\n1. a1+ a3>< 2. a2+ 3... a4<> *", 3, 20, misnumbered(2, 3)),
        ("1. a1+ 2.a3><", 1, 8, misnumbered(1, 2)),
        ("0. a1+", 1, 1, misnumbered(1, 0)),
        ("1. a1+ a3><\n2.\n\n9. a2+", 4, 1, misnumbered(2, 9)),
        (f"{'9' * 5000}. a1+", 1, 1, misnumbered(1, "9" * 5000)),
        (f'{JOIN} [ToMove "dark"]\n\n1... d4+ 1. a4x', 3, 10,
         misnumbered(2, 1)),
        (f"{HEAD}\n{WORKED_EXAMPLE} 4-2", 3, len(WORKED_EXAMPLE) + 2,
         "the result is given as 4-2, but the moves give 4-1"),
        (f"{HEAD}\n1. a1+\n\n  1-0\n", 5, 3, f"the result is given as 1-0, but {NOT_OVER}"),
        (f'{HEAD}[Result "1-4"]\n\n{WORKED_EXAMPLE}', 2, 1, "the result is given as 1-4, but the moves give 4-1"),
        (f'[Result "won"]\n\n{WORKED_EXAMPLE}', 1, 1, "the result is given as won, but the moves give 4-1"),
        (f'{HEAD}\n1. a1+ a3><\n\n[Event "y"]\n\n1. a1+ *', 5, 1, ANOTHER),
        (f"{WORKED_EXAMPLE}\n  4-1\n\n1. a1+ *", 2, 3, ANOTHER),
        ('[Event "x"]\n\n1. a1+ *\n[Event "y"]\n\n1. a1+ a1x *', 3, 8, ANOTHER),
        (f'{HEAD}[Winner "dark"]\n\n{WORKED_EXAMPLE}', 2, 1, "the winner is given as dark, but the moves give light"),
        (f'{HEAD}[Winner "light"]\n\n1. a1+ *', 2, 1, f"the winner is given as light, but {GOES_ON}"),
        ('[Termination "abandoned"]\n[Winner "draw"]\n\n1. a1+', 2, 1, f"the winner is given as draw, but {GOES_ON}"),
        ('[Termination "normal"]\n\n1. a1+', 1, 1, f"the termination is given as normal, but {GOES_ON}"),
        (f'{HEAD}[Termination "resigned"]\n[Winner "light"]\n\n{WORKED_EXAMPLE}', 2, 1,
         "the match is said to be resigned, but its moves play it to the end; leave Termination out"),
        (f'[Termination "abandoned"]\n\n{WORKED_EXAMPLE}', 1, 1,
         "the match is said to be abandoned, but its moves play it to the end; leave Termination out"),
        ('[Termination "resigned"]\n\n1. a1+ 3-0', 3, 8, "the result is given as 3-0, but the moves give 0-0"),
        ("4-1 a1+", 1, 1,
         "'4-1' is no move; write square and mark, such as a1+, c1x, a4<> or a3><, and - for a pass"),
    ],
)  # fmt: skip
def test_a_text_that_is_wrong_is_pointed_at(text, line, column, message):
    with pytest.raises(NotationError) as refused:
        MatchText.read(text)
    assert (refused.value.line, refused.value.column, refused.value.message) == (line, column, message)


def test_a_position_is_drawn_as_the_board_is():
    game = position("..#p ..## ##.. S#..", DARK, "a1")
    assert game.joined.drawing(game.layout) == "...p/..../..../S..."
    assert (game.joined.to_move, game.joined.last) == (DARK, Square.parse("a1"))


def test_what_cannot_be_seen_in_a_tag_is_left_out():
    told = MatchText.read('[Light "A\u202e\x1b[1mn\u200dn\u200d\x07"]\n[Dark "\u200b\u200d"]\n\n1. a1+ *')
    assert (told.tags["Light"], told.tags["Dark"]) == ("A[1mn\u200dn", "")


@pytest.mark.parametrize(
    "date",
    [
        "2026.11.23", "2026-11-23", "2026/1/2", "2028.02.29", "2026.11.??", "2026.??.??", "????.??.??", "????.02.29",
        "????.??.31", "2026", "2026.11", " 2026.11.23", "",
    ],
)  # fmt: skip
def test_a_date_may_be_known_in_part(date):
    match = MatchText.read(f'[Date "{date}"]\n\n1. a1+ *')
    assert match.tags["Date"] == date
    assert MatchText.read(match.write()) == match


@pytest.mark.parametrize(
    "text",
    ["a" * 9999, f"a{'1' * 9999}+", f"[{'x' * 9999}", f'[Layout "{"?" * 9999}"]', f'[Date "{"9" * 9999}"]\n\n1. a1+'],
)
def test_a_file_that_is_something_else_is_refused_in_a_line_that_can_be_read(text):
    with pytest.raises(NotationError) as refused:
        MatchText.read(text)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("end", ["4-1", "4-1 #", "# 4-1", "#", "4-1#"])
def test_a_sharp_may_end_the_moves(end):
    moves = MatchText(worked_example()).write().rpartition("\n\n")[2].strip().removesuffix("4-1")
    assert MatchText.read(f"{moves}{end}\n").game == worked_example()

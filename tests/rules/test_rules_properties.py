"""What holds of every game on every board: properties, checked on games that hypothesis makes up."""

from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.rules import (
    Colour,
    Constraint,
    Game,
    IllegalMoveError,
    Kind,
    Layout,
    MatchText,
    Move,
    NotationError,
    Pass,
    Piece,
    Square,
    parse_moves,
    score_of,
    write_moves,
)

OTHER_BOARDS = ("##/##", "8x2", "ring", "stairs", "corners", "##.##/##.##", "..##/..##/##../##..")
choices = st.builds(
    lambda seed, length: [Random(f"{seed} {ply}").randrange(10_000) for ply in range(length)],
    st.integers(0, 2**32),
    st.integers(0, 40) | st.just(40),
)
"""Numbers to choose moves by: as many as hypothesis likes, and often enough for a whole game."""
rules = st.sampled_from(("outside", "anywhere"))


@st.composite
def scattered_boards(draw):
    """Any arrangement of up to six 2x2 boards that do not overlap."""
    covered = set()
    for row, column in draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6)):
        board = {(row + dr, column + dc) for dr in (0, 1) for dc in (0, 1)}
        if not board & covered:
            covered |= board
    return Layout.parse(
        "/".join("".join("#" if (r, c) in covered else "." for c in range(7)) for r in range(6, -1, -1))
    )


boards = st.one_of(st.just(Layout.parse("4x4")), st.sampled_from(OTHER_BOARDS).map(Layout.parse), scattered_boards())


def moves_of(game):
    kinds = [kind for kind, left in game.in_hand(game.to_move).items() if left]
    return [Move(square, kind) for square in sorted(game.legal_squares()) for kind in kinds]


def played(game, numbers):
    """The game that goes on by choosing among its moves by number, until it is over or the numbers are."""
    for number in numbers:
        if game.to_move is None:
            break
        moves = moves_of(game)
        game = game.play(moves[number % len(moves)])
    return game


def ruled(game, numbers):
    """As `played`, with a referee who lets every fifth number put any piece on any empty square."""
    for number in numbers:
        empty = [square for square in game.layout if game.content(square) is None]
        if game.to_move is None or not empty:
            break
        if number % 5:
            game = played(game, [number])
        else:
            kind, colour = list(Kind)[number // 5 % 4], list(Colour)[number // 20 % 2]
            game = game.play(Move(empty[number // 40 % len(empty)], kind), colour=colour, ruled=True)
    return game


@st.composite
def games(draw, play=played):
    board = draw(boards)
    sets = draw(st.sampled_from((None, 1, 2)))
    return play(Game.start(draw(rules), layout=board, sets=sets), draw(choices))


@st.composite
def joined_games(draw):
    """Games that were joined in the middle of another, where that can be told."""
    whole = draw(games())
    pieces = {square: piece for square, piece in zip(whole.layout, whole.contents, strict=True) if piece}
    last = whole.constraint.square if whole.constraint else None
    game = Game.from_position(
        pieces,
        to_move=whole.to_move or Colour.LIGHT,
        last=last,
        first=whole.first,
        layout=whole.layout,
        sets=whole.sets,
    )
    return played(game, draw(choices))


@dataclass(frozen=True)
class Symmetry:
    """One of the eight ways to turn and mirror a board onto another."""

    turned: bool
    mirrored: bool
    flipped: bool

    def board(self, board):
        size = Layout.parse(board.drawing)
        moved = {self.square(square, board) for square in board}
        rows, columns = (size.columns, size.rows) if self.turned else (size.rows, size.columns)
        return Layout.parse(
            "/".join(
                "".join("#" if Square(row, column) in moved else "." for column in range(columns))
                for row in reversed(range(rows))
            )
        )

    def square(self, square, board):
        row = board.rows - 1 - square.row if self.flipped else square.row
        column = board.columns - 1 - square.column if self.mirrored else square.column
        return Square(column, row) if self.turned else Square(row, column)


symmetries = st.builds(Symmetry, st.booleans(), st.booleans(), st.booleans())


@given(games())
def test_a_pass_is_forced_exactly_when_no_square_is_legal(game):
    """At every point of the game, worked out from the last piece alone and not by the game's own bookkeeping."""
    for count in range(1, len(game.history)):
        before, ply = game.after(count), game.history[count]
        piece = game.history[count - 1]
        if isinstance(piece, Pass):
            assert not isinstance(ply, Pass)
            continue
        empty = {square for square in game.layout if before.content(square) is None}
        asked = Game.start("anywhere", layout=game.layout, sets=game.sets).play(Move(piece.square, piece.kind))
        allowed = set() if isinstance(asked.history[-1], Pass) else asked.legal_squares()
        assert isinstance(ply, Pass) == (not allowed & empty)


@given(games())
def test_a_game_under_way_always_has_a_move_and_every_game_ends(game):
    if game.to_move is not None:
        assert moves_of(game)
        assert game.outcome is None
        game = played(game, range(len(game.layout) + 1))
    assert game.to_move is None
    assert game.legal_squares() == frozenset()
    assert game.outcome.score == game.score
    emptied = [colour for colour in Colour if not game.pieces_left(colour)]
    full = None not in game.contents
    assert emptied or full


@given(games())
def test_exactly_the_legal_squares_take_a_piece(game):
    for square in game.layout:
        for kind in Kind:
            refused = game.refusal(square, Piece(game.to_move or Colour.LIGHT, kind))
            playable = Move(square, kind) in (moves_of(game) if game.to_move else [])
            assert (refused is None) == playable


@given(boards, st.integers(0), st.sampled_from(Kind))
def test_what_a_piece_asks_for_is_mutual_and_never_its_own_square(board, number, kind):
    square = board.squares[number % len(board)]
    asked = board.squares_in(Constraint(square, kind).mask(board))
    assert square not in asked
    assert all(square in board.squares_in(Constraint(other, kind).mask(board)) for other in asked)


@given(boards, st.integers(0))
def test_pusher_and_puller_share_the_other_squares_between_them(board, number):
    square = board.squares[number % len(board)]
    pushed, pulled = (Constraint(square, kind).mask(board) for kind in (Kind.PUSHER, Kind.PULLER))
    assert not pushed & pulled
    assert pushed | pulled | board.mask([square]) == board.all


@given(games(play=ruled))
def test_a_hand_and_what_is_left_agree_with_the_board(game):
    for colour in Colour:
        placed = [piece for piece in game.contents if piece and piece.colour is colour]
        assert game.pieces_left(colour) == max(0, 8 * game.sets - len(placed))
        assert sum(game.in_hand(colour).values()) >= game.pieces_left(colour)
    for mask, colour in ((game.light, Colour.LIGHT), (game.dark, Colour.DARK)):
        held = {square for square in game.layout if (piece := game.content(square)) and piece.colour is colour}
        assert game.layout.squares_in(mask) == held


@given(games(), symmetries)
def test_turning_and_mirroring_the_board_turns_and_mirrors_the_game(game, symmetry):
    def there(square):
        return symmetry.square(square, game.layout)

    turned = Game.start(game.first, layout=symmetry.board(game.layout), sets=game.sets)
    for told, ply in enumerate(game.history):
        here = game.after(told)
        if len(here.history) == told:
            assert turned.legal_squares() == {there(square) for square in here.legal_squares()}
            assert turned.score == here.score
            turned = turned.play(Move(there(ply.square), ply.kind))
        else:
            assert isinstance(turned.history[told], Pass)
    assert turned.score == game.score
    assert turned.to_move is game.to_move
    assert turned.legal_squares() == {there(square) for square in game.legal_squares()}


@given(boards, st.integers(0), st.integers(0), symmetries)
def test_the_score_does_not_change_with_the_side_one_looks_from(board, light, dark, symmetry):
    light, dark = light & board.all, dark & board.all & ~light
    score = score_of(board, light, dark)
    there = symmetry.board(board)

    def turned(mask):
        return there.mask(symmetry.square(square, board) for square in board.squares_in(mask))

    assert score_of(there, turned(light), turned(dark)) == score


@given(boards, st.integers(0), st.integers(0))
def test_swapping_the_colours_swaps_the_points(board, light, dark):
    light, dark = light & board.all, dark & board.all & ~light
    score, swapped = score_of(board, light, dark), score_of(board, dark, light)
    assert (swapped.light, swapped.dark) == (score.dark, score.light)


@given(boards, st.integers(0))
def test_the_score_is_the_number_of_threes_in_a_row(board, held):
    """A run of n is worth n - 2, and holds n - 2 threes: the same sum, counted in another way."""
    held &= board.all
    squares = board.squares_in(held)
    threes = sum(
        {Square(row + dr, column + dc), Square(row + 2 * dr, column + 2 * dc)} <= squares
        for row, column in squares
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1))
    )
    assert score_of(board, held, 0).light == threes


@given(games(play=ruled))
def test_notation_reads_back_what_it_writes(game):
    plies = parse_moves(write_moves(game.history))
    assert list(map(str, plies)) == list(map(str, game.history))


@given(games(play=ruled))
def test_play_and_replay_agree(game):
    options = {"first": game.first, "layout": game.layout, "sets": game.sets}
    assert Game.replay(game.history, **options) == game
    assert Game.replay(map(str, game.history), **options) == game
    assert Game.replay(parse_moves(write_moves(game.history)), **options) == game


@given(games(play=ruled) | joined_games(), st.integers(0, 40))
def test_going_back_and_playing_on_arrives_at_the_same_game(game, plies):
    earlier = game.after(plies)
    assert (earlier.first, earlier.sets, earlier.layout) == (game.first, game.sets, game.layout)
    assert earlier.history[:plies] == game.history[:plies]
    assert earlier.extend(game.history[len(earlier.history) :]) == game


tag_names = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,10}", fullmatch=True).filter(
    lambda name: name not in {"Date", "Termination", "Variant", "Winner"}
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.one_of(games(play=ruled), joined_games()), st.dictionaries(tag_names, texts, max_size=4))
def test_match_text_reads_back_what_it_writes(game, tags):
    match = MatchText(game, tags)
    read = MatchText.read(match.write())
    assert read == match
    assert read.write() == match.write()


words = st.sampled_from(
    ['[Event "x"]', '[First "anywhere"]', '[Sets "2"]', '[Layout "8x2"]', '[Winner "dark"]', '[Position "S..."]', "[",
     '"', "\\", "1.", "2...", "a1+", "b1>", "a2><", "b3x", "c4<>", "L:a3><!", "D:b1+!", "-", "(pass)", ",", "#", "*",
     "1-0", "0-0", " ", " ", "\n", "\r\n", "\t", "\u2028", "\0"],
)  # fmt: skip


@given(st.lists(words | st.characters(exclude_categories=["Cs"]), max_size=20).map("".join))
def test_no_text_makes_the_reader_stumble(text):
    """Whatever is typed is a match that can be written again, or an error with its place; never anything else."""
    try:
        match = MatchText.read(text)
    except NotationError:
        return
    assert MatchText.read(match.write()) == match


@settings(max_examples=50)
@given(games(), st.integers(0, 40))
def test_a_pass_told_where_none_is_forced_is_refused(game, plies):
    earlier = game.after(min(plies, len(game.history)))
    with pytest.raises(IllegalMoveError):
        earlier.extend(["-"])

"""How long the rules take, in microseconds on this machine: ``python -m tests.bench.rules``.

Every figure is the median of several repeats; each repeat calls long enough to be measured.
"""

import platform
import timeit
from statistics import median

from companion.rules import Game, Layout, MatchText, parse_moves

EXAMPLE = parse_moves("a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x - b4x - b3<> b1<>")
REPEATS = 15
SECONDS_A_REPEAT = 0.02


def microseconds(call):
    """The median time of one call."""
    timer = timeit.Timer(call)
    once = max(timer.timeit(10) / 10, 1e-8)
    calls = max(1, int(SECONDS_A_REPEAT / once))
    return median(timer.repeat(REPEATS, calls)) / calls * 1e6


def positions():
    """Games at different moments, by what they are called in the table."""
    big = Game.start("anywhere", layout=Layout.parse("8x4"))
    yield "empty board, outside", Game.start()
    yield "empty board, anywhere", Game.start("anywhere")
    yield "after a straight", Game.replay(EXAMPLE[:1])
    yield "after a pusher, 7 plies", Game.replay(EXAMPLE[:7])
    yield "free play, 12 plies", Game.replay(EXAMPLE[:12])
    yield "last chance, 15 plies", Game.replay(EXAMPLE[:15])
    yield "game over", Game.replay(EXAMPLE)
    yield "8x4, after a pusher", big.play("a1<>")


def row(name, *figures):
    """One line of the table."""
    shown = (f"{figure:>10.2f}" if isinstance(figure, float) else f"{figure:>10}" for figure in figures)
    return f"{name:<26}{''.join(shown)}"


def main():
    """Print the table."""
    print(f"Python {platform.python_version()}, {platform.machine()}; microseconds, median of {REPEATS}")
    print(row("position", "legal", "squares", "play", "score"))
    for name, game in positions():
        legal = game.legal_squares()
        kinds = [kind for kind, left in game.in_hand(game.to_move).items() if left] if game.to_move else []
        move = f"{min(legal)}{kinds[0].mark}" if legal else None
        figures = [microseconds(game.legal_squares), len(legal)]
        figures.append(microseconds(lambda game=game, move=move: game.play(move)) if move else "-")
        print(row(name, *figures, microseconds(lambda game=game: game.score)))
    text = MatchText(Game.replay(EXAMPLE)).write()
    print(row("a whole game replayed", microseconds(lambda: Game.replay(EXAMPLE))))
    print(row("a match text read", microseconds(lambda: MatchText.read(text))))


if __name__ == "__main__":
    main()

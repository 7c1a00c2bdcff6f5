"""How long exact analysis takes on this machine, on one core: ``python -m tests.bench.analysis``.

For every number of pieces on the board, random positions are each evaluated by an analyst that knows nothing yet: the
margin and all best moves. Then the worked example of the rule book, as a whole.
"""

import resource
import time
from random import Random
from statistics import median

from companion.analysis import Analyst, analyse_match
from companion.analysis.book import shipped_book
from companion.rules import Game, MatchText
from tests.analysis.positions import random_game

EXAMPLE = "a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x - b4x - b3<> b1<>"
POSITIONS = 20


def seconds(call, *arguments):
    """The processor time of one call."""
    start = time.process_time()
    call(*arguments)
    return time.process_time() - start


def row(name, games):
    """One line of the table."""
    times = [seconds(Analyst().evaluate, game) for game in games]
    print(f"{name:<22}{len(times):>10}{median(times):>10.3f}{max(times):>10.3f}", flush=True)


def main():
    """Print the table."""
    print(f"{'pieces on the board':<22}{'positions':>10}{'median s':>10}{'worst s':>10}")
    row("0, outside", [Game.start("outside")])
    row("0, anywhere", [Game.start("anywhere")])
    for pieces in range(1, 16):
        random = Random(pieces)
        row(str(pieces), [random_game(random, pieces) for _ in range(POSITIONS)])
    for pieces in range(1, 6):
        random = Random(pieces)
        row(f"{pieces}, all by rulings", [random_game(random, pieces, rulings=1) for _ in range(POSITIONS)])
    print(f"reading the book: {seconds(shipped_book.__wrapped__):.3f} s")
    print(f"the worked example: {seconds(analyse_match, MatchText(Game.replay(EXAMPLE.split()))):.2f} s")
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()

"""How long it takes from an event at the table until every viewer has it, for 50, 200 and 500 viewers.

    python tests/bench/viewers.py                          what ships
    python tests/bench/viewers.py --server all             the candidates; needs: pip install granian waitress gunicorn
    taskset -c 0,1 python tests/bench/viewers.py           on two cores of a larger machine

The server runs in a process of its own, with a table on which something happens every half second; the load generator
is one thread with a selector. Both clocks are the machine's monotonic one. The delay runs from the deed on the table's
thread to the end of the message in the viewer's hands, so it counts rendering, sending and reading.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from companion.rules import Game  # noqa: E402
from companion.web import Gate, create_app  # noqa: E402
from companion.web.serve import Serving  # noqa: E402
from tests.web.room import Room  # noqa: E402

PERIOD_S = 0.5
POSITION = ["a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>", "c1x"]
SERVERS = ("cheroot", "waitress", "granian", "gunicorn")
REVISION = re.compile(rb'data-revision="(\d+)"')


# The server's side -------------------------------------------------------------------------------------------------


def make_app():
    """The real app, with a table on which something happens every `PERIOD_S`; each event's time goes to stdout."""
    table = Room(Game.replay(POSITION)).table.open()
    threading.Thread(target=happenings, args=(table,), daemon=True).start()
    return create_app({"1": table}, Gate(clock=time.monotonic))


def happenings(table) -> None:
    def toggle(referee, _time):
        referee.paused = not referee.paused
        happened.append(time.monotonic())
        return []

    happened: list[float] = []
    while True:
        time.sleep(PERIOD_S)
        view = table.do(toggle)
        os.write(1, f"{view.revision} {happened[-1]:.6f}\n".encode())


def serve(server: str, port: int) -> None:
    """Serve until killed."""
    if server == "cheroot":
        with Serving(make_app(), "127.0.0.1", port):
            threading.Event().wait()
    elif server == "waitress":
        import waitress  # noqa: PLC0415 (only to compare)

        waitress.serve(make_app(), host="127.0.0.1", port=port, threads=600, connection_limit=2000, _quiet=True)
    elif server == "granian":
        from granian import Granian  # noqa: PLC0415

        Granian(
            "tests.bench.viewers:make_app", address="127.0.0.1", port=port, interface="wsgi", workers=1, factory=True,
            blocking_threads=600, respawn_failed_workers=True, log_enabled=False,
        ).serve()  # fmt: skip
    else:
        command = ["-w", "1", "-k", "gthread", "--threads", "600", "--worker-connections", "2000", "-b"]
        os.execvp(
            sys.executable,
            [sys.executable, "-m", "gunicorn", *command, f"127.0.0.1:{port}", "--log-level", "error",
             "tests.bench.viewers:make_app()"],
        )  # fmt: skip


# The viewers' side -------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Viewer:
    """One open stream."""

    socket: socket.socket
    seen: dict[int, float] = field(default_factory=dict)
    """When each revision had come."""
    rest: bytes = b""

    def take(self, data: bytes, now: float) -> None:
        """Look for the revisions of the messages that end here."""
        *whole, self.rest = (self.rest + data).split(b"\n\n")
        for message in whole:
            if match := REVISION.search(message):
                self.seen.setdefault(int(match[1]), now)


def follow(server: Server, viewers: int, seconds: float) -> tuple[list[Viewer], float, float]:
    """Open streams, and read them for so long.

    Also how long it took until all had the first message, and the server's processor time for each event after that.
    """
    selector = selectors.DefaultSelector()
    crowd = []
    begun = time.monotonic()
    for _ in range(viewers):
        opened = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        opened.sendall(b"GET /t/1/live HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n")
        opened.setblocking(False)
        viewer = Viewer(opened)
        selector.register(opened, selectors.EVENT_READ, viewer)
        crowd.append(viewer)
    greeted, end, used, events = 0.0, begun + 60, 0.0, 0
    while time.monotonic() < end:
        for key, _ in selector.select(0.2):
            with contextlib.suppress(BlockingIOError, ConnectionError):
                key.data.take(key.data.socket.recv(1 << 18), time.monotonic())
        if not greeted and all(viewer.seen for viewer in crowd):
            greeted = time.monotonic() - begun
            end = time.monotonic() + seconds
            used, events = server.cpu_s(), len(server.happened)
    cpu = (server.cpu_s() - used) / max(1, len(server.happened) - events)
    for viewer in crowd:
        viewer.socket.close()
    return crowd, greeted, cpu


@dataclass
class Server:
    """A server process and what it says."""

    name: str
    port: int
    process: subprocess.Popen = field(init=False)
    happened: dict[int, float] = field(default_factory=dict)

    def start(self) -> float:
        """Start it; how long it took until it answered."""
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", self.name, "--port", str(self.port)],
            stdout=subprocess.PIPE, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
        threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True).start()
        return self.wait(begun)

    def _listen(self, told) -> None:
        for line in told:
            revision, when = line.split()
            self.happened[int(revision)] = float(when)

    def wait(self, since: float) -> float:
        """Until it answers; seconds since `since`."""
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5) as asked:
                asked.sendall(b"GET /api/t/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                if asked.recv(64).startswith(b"HTTP/1.1 200"):
                    return time.monotonic() - since
            time.sleep(0.05)

    def processes(self) -> list[int]:
        """Its process and all below, the last born last."""
        found = [self.process.pid]
        for pid in found:
            found += [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return found

    def memory_mib(self) -> float:
        """Resident, of all its processes."""
        status = (Path(f"/proc/{pid}/status").read_text() for pid in self.processes())
        return sum(int(re.search(r"VmRSS:\s+(\d+)", text)[1]) for text in status) / 1024

    def cpu_s(self) -> float:
        """Processor time of all its processes so far."""
        stat = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self.processes())
        return sum(int(fields[11]) + int(fields[12]) for fields in stat) / os.sysconf("SC_CLK_TCK")

    def kill_worker(self) -> float:
        """Kill the process that has the table; how long until the table is shown again."""
        processes = self.processes()
        os.kill(processes[-1], signal.SIGKILL)
        since = time.monotonic()
        if len(processes) > 1:
            return self.wait(since)
        self.process.wait()
        return self.start()

    def stop(self) -> None:
        """End it, and all below."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def measure(name: str, viewers: int, seconds: float) -> str:
    """One row of the table."""
    server = Server(name, free_port())
    try:
        server.start()
        crowd, greeted, cpu = follow(server, viewers, seconds)
        memory = server.memory_mib()
        happened = dict(server.happened)
        server.happened.clear()
        back = server.kill_worker()
    finally:
        server.stop()
    delays = sorted(
        when - happened[revision]
        for viewer in crowd
        for revision, when in list(viewer.seen.items())[1:]
        if revision in happened
    )
    told = sum(1 for revision in happened if any(revision in viewer.seen for viewer in crowd))
    if len(delays) < 2:
        return f"| {name} | {viewers} | - | - | - | - | - | {greeted:.1f} | {memory:.0f} | {back:.1f} |"
    cuts = statistics.quantiles(delays, n=100)
    missed = 1 - len(delays) / (told * viewers)
    milliseconds = " | ".join(f"{1000 * delay:.0f}" for delay in (cuts[49], cuts[98], delays[-1]))
    others = f"{missed:.1%} | {1000 * cpu:.0f} | {greeted:.1f} | {memory:.0f} | {back:.1f}"
    return f"| {name} | {viewers} | {milliseconds} | {others} |"


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="cheroot", choices=(*SERVERS, "all"))
    parser.add_argument("--viewers", type=int, nargs="+", default=[50, 200, 500])
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--serve", choices=SERVERS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve, asked.port)
        return
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, an event every {PERIOD_S} s")
    columns = ["server", "viewers", "p50 ms", "p99 ms", "max ms", "skipped"]
    columns += ["CPU ms an event", "all greeted s", "MiB", "back after kill s"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in SERVERS if asked.server == "all" else [asked.server]:
        for viewers in asked.viewers:
            print(measure(name, viewers, asked.seconds), flush=True)


if __name__ == "__main__":
    main()

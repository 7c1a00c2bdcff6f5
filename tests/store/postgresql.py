"""A PostgreSQL to be thrown away: a cluster of its own in a temporary folder, apart from any other on this machine.

Its server runs as nobody where root runs the tests, as it refuses to run as root. It asks for a password, which nobody
else has: whoever is its superuser may run programs as the one that runs it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOBODY = 65534
_START_S = 120
_TRIES = 5
"""Somebody else may take a free port before the server does."""
_SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
synchronous_commit = off
full_page_writes = off
"""


@contextmanager
def throw_away(programs: Path) -> Iterator[sa.URL]:
    """The URL of the only database of a server that runs as long as the block, and may be emptied.

    Args:
        programs: the folder of ``initdb`` and ``pg_ctl``.

    Raises:
        RuntimeError: if it cannot be made or started, with what it said.

    """
    with TemporaryDirectory(prefix="mijnlieff-postgresql-") as folder:
        cluster = _Cluster(programs, Path(folder))
        try:
            yield cluster.start()
        finally:
            cluster.stop()


class _Cluster:
    """What `folder` holds: ``data``, which is the cluster, and ``log``."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        self._password = secrets.token_hex()
        password = folder / "password"
        password.write_text(self._password)
        self._owner = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        if self._owner:
            for each in (folder, password):
                shutil.chown(each, _NOBODY, _NOBODY)
        access = ("--username=ann", f"--pwfile={password}", "--auth=scram-sha-256")
        self._run("initdb", *access, "--encoding=UTF8", "--no-locale", "--no-sync")
        with (folder / "data/postgresql.conf").open("a") as settings:
            settings.write(_SETTINGS)

    def start(self) -> sa.URL:
        for _ in range(_TRIES):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            try:
                self._run("pg_ctl", "start", "--wait", f"--timeout={_START_S}", f"--options=-p {port}", "--log=log")
            except RuntimeError as error:
                trouble = error
            else:
                return sa.URL.create("postgresql+psycopg", "ann", self._password, "127.0.0.1", port, "postgres")
        log = self._folder / "log"
        raise RuntimeError(f"{trouble}{log.read_text() if log.exists() else ''}")

    def stop(self) -> None:
        """Stop it, if it runs, as if the power failed: nothing is kept."""
        if (self._folder / "data/postmaster.pid").exists():
            self._run("pg_ctl", "stop", "--mode=immediate")

    def _run(self, program: str, *options: str) -> None:
        command = [self._programs / program, *options, "--pgdata=data"]
        done = subprocess.run(
            command,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **self._owner,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout}")

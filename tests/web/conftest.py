"""A table in play, an app around it, and people who look at it from here and from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from companion.web import Gate, create_app
from companion.web.serve import Serving
from tests.web.room import Room

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def room() -> Iterator[Room]:
    room = Room()
    with room.table.running():
        yield room


@pytest.fixture
def app(room):
    app = create_app({"1": room.table}, Gate(clock=lambda: 0.0, pin="123456", hosts=frozenset({"table.local"})))
    app.testing = True
    return app


@pytest.fixture
def serving(app) -> Iterator[str]:
    """The page's address, with a real server behind it."""
    with Serving(app, "127.0.0.1", 0) as serving:
        yield f"http://127.0.0.1:{serving.port}"


class Person:
    """Somebody with a browser, on this machine or elsewhere."""

    def __init__(self, app, *, address="127.0.0.1", host="127.0.0.1:8000"):
        self.client = app.test_client()
        self.host = host
        self.environ = {"REMOTE_ADDR": address, "HTTP_HOST": host}

    def get(self, path, **kwargs):
        return self.client.get(path, environ_overrides=self.environ, buffered=True, **kwargs)

    def post(self, path, *, origin=None, headers=(), **kwargs):
        told = {"Origin": origin or f"http://{self.host}", **dict(headers)}
        return self.client.post(path, environ_overrides=self.environ, headers=told, **kwargs)

    def token(self) -> str:
        page = self.get("/t/1/hand").text
        return re.search(r'name="token" value="([^"]+)"', page)[1]

    def rule(self, deed: str, **fields):
        return self.post(f"/t/1/do/{deed}", data={"token": self.token(), **fields})


@pytest.fixture
def here(app) -> Person:
    return Person(app)


@pytest.fixture
def elsewhere(app) -> Person:
    return Person(app, address="10.0.0.77", host="10.0.0.5:8000")

"""The JSON API does what its description says, whatever it is asked."""

from __future__ import annotations

import hypothesis
import pytest
import schemathesis

from companion.web import Gate, create_app
from companion.web.deeds import REQUESTS
from tests.web.room import Room

ADDRESSES = [
    ("/api/tables", "get"),
    ("/api/t/{table}", "get"),
    *((f"/api/t/{{table}}/{name}", "post") for name in REQUESTS),
]


@pytest.fixture
def described():
    """The description of the API of a table in play, and the way to ask it."""
    room = Room()
    with room.table.running():
        room.play("a1+")
        app = create_app({"1": room.table}, Gate(clock=lambda: 0.0))

        def asked(environ, start_response):
            return app(environ | {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "127.0.0.1"}, start_response)

        yield schemathesis.openapi.from_wsgi("/api/openapi.json", asked)


def test_every_address_is_described(described):
    assert {(path, method) for path, methods in described.raw_schema["paths"].items() for method in methods} == {
        *ADDRESSES
    }


@pytest.mark.parametrize(("path", "method"), ADDRESSES, ids=[path for path, _ in ADDRESSES])
def test_every_request_is_answered_as_described(described, path, method):
    @hypothesis.given(described[path][method].as_strategy())
    @hypothesis.settings(max_examples=15, suppress_health_check=list(hypothesis.HealthCheck), database=None)
    def ask(case):
        case.path_parameters = dict.fromkeys(case.path_parameters or {}, "1")
        case.call_and_validate()

    ask()

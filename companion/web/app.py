"""The app: pages for people, JSON for programs, one live stream for every viewer.

Every URL carries the table's id. Whoever runs the app owns the tables; the app only looks at them and posts deeds.
"""

from __future__ import annotations

import secrets
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from flask import Response, g, render_template, request
from flask_babel import Babel
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException

from companion import __version__
from companion.rules import Colour
from companion.web.api import api
from companion.web.companion import Companion
from companion.web.deeds import wrong_fields
from companion.web.gate import HEADERS, PIN_HEADER
from companion.web.language import _, as_sentence, chosen, told
from companion.web.live import Fragments, Look
from companion.web.pages import live_html, pages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from apiflask.exceptions import HTTPError

    from companion.table import Table, TableView
    from companion.web.gate import Gate
    from companion.web.tiles import LooseTiles

_LONGEST_REQUEST = 64 * 1024
_SESSION = timedelta(days=30)


def create_app(
    tables: Mapping[str, Table],
    gate: Gate,
    *,
    secret_key: str | None = None,
    tiles: Mapping[str, LooseTiles] | None = None,
) -> Companion:
    """Make the app.

    Args:
        tables: by id; they have to be running.
        gate: who may do what.
        secret_key: signs the sessions; by chance if it is not given, and then they end with the program.
        tiles: by table, the tile boards that are not there: their pieces are laid on the page.
    """
    app = Companion(
        "companion.web",
        title="Mijnlieff companion",
        version=__version__,
        docs_path=None,
        spec_path="/api/openapi.json",
        json_errors=False,
    )
    app.config.update(
        SECRET_KEY=secret_key or secrets.token_hex(32),
        SESSION_COOKIE_NAME="companion",
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_HTTPONLY=True,
        PERMANENT_SESSION_LIFETIME=_SESSION,
        MAX_CONTENT_LENGTH=_LONGEST_REQUEST,
        SPEC_FORMAT="json",
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.tables, app.tiles = tables, tiles or {}
    app.gate, app.boot = gate, secrets.token_hex(6)
    app.closing = threading.Event()
    app.fragments = Fragments(_rendering(app))
    Babel(app, locale_selector=chosen)
    app.before_request(gate.check)
    app.before_request(_note_look)
    app.after_request(_with_headers)
    app.register_blueprint(pages)
    app.register_blueprint(api)
    app.spec_processor(_described)
    app.error_processor(_invalid)
    app.register_error_handler(HTTPException, _error)  # last, for the line before takes every error for itself
    return app


def _rendering(app: Companion) -> Callable[[TableView, Look], str]:
    """Renders the live part of a page outside of any request."""

    def render(view: TableView, look: Look) -> str:
        with app.app_context():
            return live_html(view, look)

    return render


def _described(spec: Any) -> Any:
    """The API's description, which says that a deed needs its body, and, from elsewhere, the PIN."""
    pin = {"type": "apiKey", "in": "header", "name": PIN_HEADER, "description": "Not asked for on this machine itself."}
    spec.setdefault("components", {})["securitySchemes"] = {"pin": pin}
    for address in spec["paths"].values():
        if "post" in address:
            address["post"]["requestBody"]["required"] = True
            address["post"]["security"] = [{"pin": []}, {}]
    return spec


def _note_look() -> None:
    side = Colour.DARK if request.args.get("side") == "dark" else Colour.LIGHT
    g.look = Look(side=side, language=chosen(), referee=False)


def _with_headers(response: Response) -> Response:
    response.headers.update(HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")  # what is static comes with an ETag, and is asked for anew
    return response


def _error(error: HTTPException) -> tuple[Any, int]:
    code = error.code or 500
    by_default = error.description == type(error).description
    message = _in_words(code) if by_default else error.description or error.name
    if request.path.startswith("/api/"):
        return {"message": message, "detail": {}}, code
    template = "reply.html" if "HX-Request" in request.headers else "error.html"
    return render_template(template, message=as_sentence(message), wrong=True), code


def _in_words(code: int) -> str:
    """What an error means that nobody has said more about."""
    return {
        400: _("that cannot be understood"),
        404: _("there is nothing at this address"),
        405: _("that cannot be done with this address"),
        413: _("that is too long"),
        415: _("that is of a kind that is not understood"),
    }.get(code) or _("something went wrong here; the log of the program says more")


def _invalid(error: HTTPError) -> tuple[Any, int, Any]:
    """Which field of a request is wrong, and what it must be."""
    message, cause = error.message, error.__cause__
    if isinstance(cause, ValidationError):
        message = "; ".join(f"{field}: {told(why)}" for field, why in wrong_fields(cause))
    return {"message": message, "detail": error.detail}, error.status_code, error.headers

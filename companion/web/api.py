"""The JSON API: the state of every table, and the referee's hand for programs. Described at ``/api/openapi.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apiflask import APIBlueprint
from flask import abort, request
from pydantic import BaseModel
from werkzeug.exceptions import BadRequest

from companion.errors import RulesError, TableError
from companion.web.companion import this_app
from companion.web.deeds import REQUESTS
from companion.web.language import _, told
from companion.web.state import TableState, state_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.web.deeds import Request

api = APIBlueprint("api", __name__, url_prefix="/api", tag="Tables")


REFUSALS = {
    400: "No JSON object, not for this program, or to a name that is not its own.",
    403: "From elsewhere, and without the PIN.",
    404: "There is no such table.",
    409: "The game cannot do that now; the message says why.",
    413: "More than any request has to say.",
    415: "Something else than JSON.",
    429: "Too many wrong PINs.",
    503: "The table has stopped, or does not answer.",
}


class Tables(BaseModel):
    """Every table of this program."""

    boot: str
    tables: list[TableState]


@api.get("/tables")
@api.output(Tables)
def list_tables() -> Tables:
    """Every table as it is now."""
    app = this_app()
    return Tables(boot=app.boot, tables=[state_of(table.view, app.boot) for table in app.tables.values()])


@api.get("/t/<table>")
@api.output(TableState)
def show_table(table: str) -> TableState:
    """One table as it is now."""
    return state_of(this_app().table(table).view, this_app().boot)


@api.before_request
def _expect_object() -> None:
    """Refuse what is no JSON object."""
    if request.method != "POST":
        return
    try:
        body = request.get_json()
    except BadRequest:
        abort(400, _("the body is no JSON; send an object, such as {}"))
    if not isinstance(body, dict):
        abort(400, _("the body must be a JSON object, such as {}"))


def _add(name: str, kind: type[Request]) -> None:
    """Register one of the referee's deeds."""

    def rule(table: str, json_data: Request) -> TableState:
        app = this_app()
        app.gate.check_program()
        found = app.table(table)
        try:
            return state_of(found.do(json_data.deed(found)), app.boot)
        except RulesError as refusal:
            abort(409, told(refusal.saying))
        except TableError as error:
            abort(503, told(error.saying))

    rule.__doc__ = kind.__doc__
    view: Callable[..., object] = api.doc(responses=REFUSALS)(api.output(TableState)(api.input(kind)(rule)))
    api.post(f"/t/<table>/{name}", endpoint=name)(view)


for _name, _kind in REQUESTS.items():
    _add(_name, _kind)

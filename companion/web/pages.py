"""The pages: the hall, a table, the referee's hand, the PIN; and the live stream that keeps a table's page true."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from flask import (
    Blueprint,
    Response,
    abort,
    g,
    has_request_context,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask_babel import force_locale
from pydantic import ValidationError

from companion.errors import RulesError, TableError
from companion.readings import ALL_CONTENTS
from companion.rules import Colour, Kind, Layout
from companion.rules.layout import NAMED_LAYOUTS
from companion.saying import Saying
from companion.web import names, words
from companion.web.companion import this_app
from companion.web.deeds import REQUESTS, wrong_fields
from companion.web.drawing import draw, emblem
from companion.web.language import COOKIE, LANGUAGES, WRITTEN_IN, _, sentence
from companion.web.live import stream
from companion.web.tiles import draw_tiles, touch

if TYPE_CHECKING:
    from typing import Any

    from werkzeug.wrappers import Response as AnyResponse

    from companion.rules import Ply
    from companion.table import TableView
    from companion.web.live import Look

pages = Blueprint("pages", __name__)
TOKEN_MARK = "%session-token%"  # noqa: S105 (where a token goes)
"""Stands in what is rendered once for all referees where each one's own token goes."""
_YEAR_S = 365 * 24 * 3600
_LAID_S = 1.0
"""How long a page without scripts waits at most for the table to see what was laid on the tile board."""
THEMES = ("auto", "light", "dark")


def _look() -> Look:
    look: Look = g.look
    return replace(look, referee=this_app().gate.may_rule())


def live_html(view: TableView, look: Look) -> str:
    """The live part of a table's page; needs the app's context, but no request."""
    with force_locale(look.language):
        return render_template("live.html", token=TOKEN_MARK, **_shown(view, look))


def _shown(view: TableView, look: Look) -> dict[str, Any]:
    far = look.side.other
    return {
        "view": view,
        "look": look,
        "board": draw(view, look.side),
        "words": words,
        "names": names,
        "notices": words.notices(view),
        "sides": (far, look.side),
        "kinds": tuple(Kind),
        "rounds": _rounds(view),
        "boot": this_app().boot,
    }


def _rounds(view: TableView) -> list[tuple[int, list[tuple[int, Ply | None]]]]:
    """The history in numbered pairs, each entry with its ply; an empty place where Dark began."""
    entries: list[tuple[int, Ply | None]] = list(enumerate(view.game.history, start=1))
    if entries and entries[0][1] is not None and entries[0][1].colour is Colour.DARK:
        entries.insert(0, (0, None))
    return [(i // 2 + 1, entries[i : i + 2]) for i in range(0, len(entries), 2)]


@pages.app_context_processor
def _everywhere() -> dict[str, Any]:
    meant = _meant() if has_request_context() else {}
    theme = request.cookies.get("theme") if has_request_context() else None
    return {
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "languages": LANGUAGES,
        "language": g.look.language if has_request_context() and "look" in g else WRITTEN_IN,
        "meant": meant,
        "back": _back(**meant) if has_request_context() else "",
        "goes_to_table": has_request_context() and bool(meant or len(this_app().tables) == 1),
    }


def _back(table: str = "", side: str | None = None) -> str:
    """Where one goes from a page that is not a table's: to this table, if there is one."""
    return url_for("pages.table", table=table, side=side) if table in this_app().tables else url_for("pages.hall")


def _meant() -> dict[str, str]:
    """The table, and the side of it, that a request is about, also where nothing is at its address; else nothing."""
    first, table = (*request.path.split("/"), "", "")[1:3]
    if first != "t" or table not in this_app().tables:
        return {}
    return {"table": table} | ({"side": Colour.DARK.value} if request.args.get("side") == Colour.DARK.value else {})


@pages.get("/")
def hall() -> AnyResponse:
    """All tables; straight to the table where there is only one."""
    tables = this_app().tables
    if len(tables) == 1:
        there = url_for("pages.table", table=next(iter(tables)))
        return make_response("", {"HX-Redirect": there}) if "HX-Request" in request.headers else redirect(there)
    views = [table.view for table in tables.values()]
    return make_response(render_template("hall.html", views=views, words=words, look=_look()))


@pages.get("/t/<table>/")
def table(table: str) -> str:
    """One table, live."""
    view, look = this_app().table(table).view, _look()
    token = this_app().gate.token() if look.referee else ""
    laid = _tiles(view, look) if look.referee and table in this_app().tiles else {}
    several = len(this_app().tables) > 1
    return render_template(
        "table.html", token=token, gate=this_app().gate, several=several, **laid, **_shown(view, look)
    )


@pages.get("/t/<table>/live")
def live(table: str) -> Response:
    """The live stream of a table's page."""
    app, look = this_app(), _look()
    found = app.table(table)
    token = app.gate.token().encode() if look.referee else b""

    def show(view: TableView) -> bytes:
        message = app.fragments.message(view, look)
        return message.replace(TOKEN_MARK.encode(), token) if token else message

    streaming = Response(stream(found, show, app.closing), mimetype="text/event-stream")
    streaming.headers["X-Accel-Buffering"] = "no"
    return streaming


@pages.get("/t/<table>/picture.jpg")
def picture(table: str) -> Response:
    """The board as the source sees it."""
    picture = this_app().table(table).view.picture
    if picture is None:
        abort(404, _("there is no picture of this table"))
    response = Response(picture.jpeg, mimetype="image/jpeg")
    response.set_etag(f"{this_app().boot}-{picture.number}")
    response.headers["Cache-Control"] = "private, no-cache"
    return cast("Response", response.make_conditional(request))


@pages.get("/t/<table>/hand")
def hand(table: str) -> str | AnyResponse:
    """The referee's hand: everything a person may do, or what may be done to one square or move."""
    app, look = this_app(), _look()
    view = app.table(table).view
    if not look.referee:
        return redirect(url_for("pages.sign_in", table=table))
    square = next((square for square in view.game.layout if str(square) == request.args.get("square")), None)
    ply = request.args.get("ply", 0, int)
    move = view.game.history[ply - 1] if 0 < ply <= len(view.game.history) else None
    template = "hand.html" if "HX-Request" in request.headers else "hand_page.html"
    told = {
        "square": square,
        "ply": ply,
        "move": move,
        "contents": ALL_CONTENTS[1:],
        "joining": "join" in request.args,
        "layouts": _layouts(view.game.layout),
    }
    return render_template(template, token=app.gate.token(), **told, **_shown(view, look))


def _layouts(played: Layout) -> list[tuple[str, Layout, str]]:
    """The boards to choose from, by name, each with its emblem; the one that is played on is always among them."""
    boards = {name: Layout.parse(name) for name in NAMED_LAYOUTS}
    boards[str(played)] = played
    return [(name, layout, emblem(layout)) for name, layout in boards.items()]


@pages.route("/t/<table>/tiles", methods=["GET", "POST"])
def tiles(table: str) -> AnyResponse | str:
    """The tile board that is not there, for the table that has one; lays a piece, or takes one away."""
    app, look = this_app(), _look()
    view = app.table(table).view
    if table not in app.tiles:
        abort(404, _("the board of this table is a real one"))
    if not look.referee:
        return redirect(url_for("pages.sign_in", table=table))
    wrong = ""
    if request.method == "POST":
        app.gate.check_hand()
        wrong = touch(app.tiles[table], view, request.form.get("square", ""), request.form.get("piece", ""))
        if "HX-Request" not in request.headers and not wrong:
            app.table(table).wait_newer(view.revision, _LAID_S)
            return redirect(url_for("pages.table", table=table, side=look.side.value), 303)
    template = "tiles.html" if "HX-Request" in request.headers else "tiles_page.html"
    return render_template(template, token=app.gate.token(), wrong=wrong, **_tiles(view, look), **_shown(view, look))


def _tiles(view: TableView, look: Look) -> dict[str, Any]:
    return {
        "drawn": draw_tiles(this_app().tiles[view.table], view, look.side),
        "chosen": request.values.get("piece", ""),
    }


@pages.post("/t/<table>/do/<deed>")
def do(table: str, deed: str) -> AnyResponse | str | tuple[str, int]:
    """One deed of the referee's hand, from a form."""
    app = this_app()
    app.gate.check_hand()
    found, kind = app.table(table), REQUESTS.get(deed)
    if kind is None:
        abort(404)
    fields = {name: value for name, value in request.form.items() if name not in ("token", "side")}
    try:
        found.do(kind.model_validate(fields).deed(found))
    except ValidationError as error:
        field, why = wrong_fields(error)[0]
        return _reply(sentence(Saying("%(field)s: %(why)s", field=_labels().get(field, field), why=why)), 422)
    except RulesError as refusal:
        return _reply(sentence(refusal.saying), 409)
    except TableError as error:
        return _reply(sentence(error.saying), 503)
    if "HX-Request" in request.headers:
        return _reply("", 200)
    return redirect(url_for("pages.table", table=table, side=request.form.get("side")), 303)


def _labels() -> dict[str, str]:
    """What the fields that people fill in are called on the page."""
    return {
        "light": _("Light"),
        "dark": _("Dark"),
        "move": _("The move"),
        "drawing": _("The drawing"),
        "sets": _("Sets of pieces"),
    }


def _reply(message: str, code: int) -> tuple[str, int]:
    template = "reply.html" if "HX-Request" in request.headers else "error.html"
    return render_template(template, message=message, wrong=code >= 400), code  # noqa: PLR2004


@pages.route("/sign-in", methods=["GET", "POST"])
def sign_in() -> AnyResponse | str | tuple[str, int]:
    """Ask for the PIN."""
    gate = this_app().gate
    table = request.values.get("table", "")
    table = table if table in this_app().tables else next(iter(this_app().tables), "")
    if request.method == "POST":
        if gate.sign_in(request.form.get("pin", "")):
            return redirect(url_for("pages.table", table=table), 303)
        return render_template("sign_in.html", table=table, wrong=_("That is not the PIN.")), 403
    return render_template("sign_in.html", table=table, wrong="")


@pages.get("/look")
def look() -> AnyResponse:
    """Remember the theme, or the language."""
    response = redirect(_back(request.args.get("table", ""), request.args.get("side")))
    for name, known in (("theme", THEMES), (COOKIE, LANGUAGES)):
        if (value := request.args.get(name)) and value in known:
            response.set_cookie(name, value, max_age=_YEAR_S, samesite="Lax", httponly=True)
    return response


@pages.get("/favicon.ico")
def favicon() -> AnyResponse:
    """The icon, for browsers that ask for it by its old name."""
    return redirect(url_for("static", filename="icon.svg"))

"""Who may look, who may rule, and what every answer forbids a browser."""

from __future__ import annotations

import pytest

from companion.web import Gate, create_app
from companion.web.gate import HEADERS, TRIES_EACH, TRIES_IN_ALL, WAIT_S, Attempts
from tests.web.conftest import Person


def test_everyone_may_look_and_is_given_no_session(here, elsewhere):
    assert "hand?" in here.get("/t/1/").text
    page = elsewhere.get("/t/1/")
    assert page.status_code == 200
    assert "Set-Cookie" not in page.headers
    assert "hand?" not in page.text


def test_this_machine_may_rule_without_a_pin(here, room):
    assert here.rule("pause", paused="true").status_code == 303
    assert room.view.paused


def test_elsewhere_the_referees_hand_leads_to_the_pin(elsewhere, room):
    assert elsewhere.get("/t/1/hand").headers["Location"] == "/sign-in?table=1"
    assert elsewhere.post("/t/1/do/pause", data={"paused": "true"}).status_code == 403
    assert not room.view.paused


def test_pin_opens_the_referees_hand(elsewhere, room):
    assert elsewhere.post("/sign-in", data={"pin": "000000"}).status_code == 403
    let_in = elsewhere.post("/sign-in", data={"pin": "123456"})
    assert let_in.status_code == 303
    cookie = let_in.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert elsewhere.rule("pause", paused="true").status_code == 303
    assert room.view.paused


def test_right_pin_does_not_help_after_too_many_wrong_ones(elsewhere):
    for _ in range(TRIES_EACH):
        assert elsewhere.post("/sign-in", data={"pin": "000000"}).status_code == 403
    assert elsewhere.post("/sign-in", data={"pin": "123456"}).status_code == 429


def test_wrong_pins_are_forgotten_after_a_while_and_counted_in_all():
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    for i in range(TRIES_IN_ALL):
        assert not attempts.exhausted("10.0.0.99")
        attempts.note(f"10.0.0.{i}")
    assert attempts.exhausted("10.0.0.99")
    now[0] = WAIT_S + 1
    assert not attempts.exhausted("10.0.0.99")


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_proxy_on_this_machine_does_not_lend_its_place(app, header):
    person = Person(app)
    assert person.get("/t/1/hand").status_code == 200
    assert person.get("/t/1/hand", headers={header: "10.0.0.77"}).headers["Location"] == "/sign-in?table=1"


def test_another_pages_request_is_refused(here, room):
    token = here.token()
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9999"):
        refused = here.post("/t/1/do/pause", origin=origin, data={"token": token, "paused": "true"})
        assert refused.status_code == 403, origin
    without = here.client.post("/t/1/do/pause", environ_overrides=here.environ, data={"token": token, "paused": "true"})
    assert without.status_code == 403
    assert not room.view.paused


def test_wrong_or_foreign_token_is_refused(here, app, room):
    stolen = Person(app).token()
    here.token()
    for token in ("", "x", stolen):
        assert here.post("/t/1/do/pause", data={"token": token, "paused": "true"}).status_code == 403, token
    assert not room.view.paused


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "1.2.3", "10.0.0.6.", "localhost@evil.example", "[evil", ""]
)
def test_page_is_not_given_under_a_foreign_name(app, host):
    assert Person(app, host=host).get("/t/1/").status_code == 400


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "table.local:8000"])
def test_page_is_given_under_its_own_names(app, host):
    assert Person(app, host=host).get("/t/1/").status_code == 200


@pytest.mark.parametrize("host", ["10.0.0.6:8000", "10.0.0.6", "[fd00::2]:8000"])
def test_page_is_given_under_every_address_where_others_are_let_in(app, room, host):
    assert Person(app, host=host).get("/t/1/").status_code == 200
    for_here_alone = create_app({"1": room.table}, Gate(clock=lambda: 0.0))
    assert Person(for_here_alone, host=host).get("/t/1/").status_code == 400


@pytest.mark.parametrize("path", ["/t/1/", "/t/1/hand", "/sign-in", "/t/9/", "/static/page.css", "/api/t/1"])
def test_every_answer_carries_the_policy(here, path):
    answer = here.get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_what_a_page_loads_is_asked_for_anew_lest_it_be_that_of_another_version(here):
    """It was kept for a year under the number of a version, which does not change with every update."""
    with here.get("/static/live.js") as answer:
        assert answer.headers["Cache-Control"] == "no-cache"
    with here.get("/static/live.js", headers={"If-None-Match": answer.headers["ETag"]}) as again:
        assert (again.status_code, again.headers["Cache-Control"]) == (304, "no-cache")


@pytest.mark.parametrize("path", ["/t/1/", "/t/1/hand", "/sign-in"])
def test_no_page_has_inline_code_or_style(here, path):
    page = here.get(path).text
    assert " style=" not in page
    assert "<style" not in page
    assert "<script>" not in page
    assert " on" + "click=" not in page


def test_program_on_this_machine_may_rule_and_one_elsewhere_needs_the_pin(here, elsewhere, room):
    def post(person, **headers):
        return person.client.post(
            "/api/t/1/pause", json={"paused": True}, headers=headers, environ_overrides=person.environ
        )

    assert post(elsewhere).status_code == 403
    assert post(elsewhere, **{"X-Companion-Pin": "000000"}).status_code == 403
    assert not room.view.paused
    assert post(elsewhere, **{"X-Companion-Pin": "123456"}).status_code == 200
    assert room.view.paused
    assert post(here).status_code == 200
    assert post(here, Origin="http://evil.example").status_code == 403
    assert post(elsewhere, Origin="http://[bad").status_code == 403

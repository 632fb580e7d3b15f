import re

import flask
import pytest

from habilis import web
from habilis.errors import ArgsInvalid, BadInput, EngineFailed, NotFound, Unauthenticated
from habilis.home.worktree import WorkTreeHome
from habilis.redaction import current, recording

SECRET = "tok-9f2c41d7a8b3"


def app():
    """Return a browser's view of functions that answer each path with a page, a redirect or a fault."""
    application = flask.Flask("pages")

    def answer(home, outside):
        match flask.request.path:
            case "/page":
                return web.page("A <b>title</b>", f"It's {SECRET} & more")
            case "/on":
                return web.redirect("https://habilis.example/next")
            case "/refused":
                raise NotFound("the project has no WordPress account", hint="add one: habilis accounts add")
            case _:
                raise ValueError(f"bad {flask.request.args.get('token')}")

    @application.route("/<path:path>", methods=["GET", "POST"])
    def serve(path):
        with recording():
            current().add("TOKEN", SECRET)
            return web.serve_public(flask.request, answer)

    return application.test_client()


@pytest.fixture
def browser(tmp_path, monkeypatch):
    from habilis.home.worktree import init_home

    init_home(tmp_path / "home").close()
    monkeypatch.setenv("HABILIS_HOME", str(tmp_path / "home"))
    return app()


def test_a_page_holds_text_and_no_markup_of_others(browser):
    reply = browser.get("/page")

    assert "<h1>A &lt;b&gt;title&lt;/b&gt;</h1><p>It&#x27;s" in reply.text
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    policy = dict(rule.split(" ", 1) for rule in reply.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", policy["script-src"])
    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]


def test_a_browser_is_sent_on_without_saying_where_it_came_from(browser):
    reply = browser.get("/on")

    assert (reply.status_code, reply.headers["Location"]) == (303, "https://habilis.example/next")
    assert reply.headers["Referrer-Policy"] == "no-referrer"


def test_an_error_is_a_page_that_says_what_to_do_and_keeps_its_words(browser):
    reply = browser.get("/refused")

    assert reply.status_code == 404
    assert "<h1>The project has no WordPress account</h1><p>Add one: habilis accounts add.</p>" in reply.text


def test_a_fault_of_ours_is_a_page_with_an_id_and_its_log_line_holds_nothing_of_the_query(browser, capsys):
    reply = browser.get("/fault?token=query-0123456789")

    log = capsys.readouterr().err
    assert reply.status_code == 500
    assert "query-0123456789" not in reply.text + log
    assert "bad [redacted QUERY]" in log


def test_a_page_is_only_for_those_who_look(browser):
    assert browser.post("/page").status_code == 404


def test_an_error_without_a_hint_names_its_place_in_the_log():
    assert web.error_words(EngineFailed("it broke"))[1].startswith("The log has it under ")


@pytest.mark.parametrize(
    ("error", "severity"), [(BadInput("x"), "INFO"), (Unauthenticated("x"), "INFO"), (EngineFailed("x"), "ERROR")]
)
def test_only_our_own_faults_are_errors_in_the_log(capsys, error, severity):
    web.report(error)

    assert f'"severity": "{severity}"' in capsys.readouterr().err


def desk(order=None, path=(), method="POST"):
    from habilis.engine.settings import live_outside, read_settings
    from habilis.engine.tokens import Principal

    settings = read_settings({})
    return web.Desk(
        caller=Principal(role="admin"),
        order=order or {},
        method=method,
        path=path,
        home=WorkTreeHome.__new__(WorkTreeHome),
        outside=live_outside(settings),
        settings=settings,
    )


def test_fields_of_an_order_are_read_by_their_type():
    full = desk({"name": "x", "fields": {"a": 1}, "texts": {"a": "b"}, "flag": True})

    assert full.text("name") == "x"
    assert full.fields("fields") == {"a": 1}
    assert full.texts("texts") == {"a": "b"}
    assert full.flag("flag") is True


def test_a_field_that_is_missing_or_null_has_its_default():
    empty = desk({"name": None, "fields": None, "texts": None, "flag": None})

    assert empty.text("name", "default") == "default"
    assert (empty.fields("fields"), empty.texts("texts"), empty.flag("flag")) == ({}, {}, False)
    assert (desk().text("name", ""), desk().fields("fields"), desk().flag("flag")) == ("", {}, False)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda desk: desk.text("none"), "none: expected text, got nothing"),
        (lambda desk: desk.text("list", ""), "list: expected text, got a list"),
        (lambda desk: desk.fields("list"), "list: expected fields, got a list"),
        (lambda desk: desk.texts("numbers"), "numbers.a: expected text, got a number"),
        (lambda desk: desk.flag("one"), "one: expected true or false, got a number"),
    ],
)
def test_a_field_of_another_type_is_named_with_what_was_expected(read, message):
    with pytest.raises(ArgsInvalid) as caught:
        read(desk({"list": ["secret"], "numbers": {"a": 1}, "one": 1}))

    assert caught.value.message == message


@pytest.mark.parametrize(
    ("path", "route", "is_served"),
    [
        ((), ("POST", "call"), True),
        (("acme", "call"), ("POST", "call"), True),
        (("acme",), ("POST", "call"), False),
        (("acme", "publish"), ("POST", "call"), False),
        (("acme", "call", "x"), ("POST", "call"), False),
        ((), ("GET", "call"), False),
        ((), ("POST",), True),
        (("acme", "install"), ("POST",), False),
    ],
)
def test_a_route_is_served_at_its_own_address_or_under_a_project(path, route, is_served):
    try:
        desk(path=path).require_route(*route)
    except NotFound:
        served = False
    else:
        served = True

    assert served is is_served

"""What a call would send, told before anything is."""

import json

import pytest
from tests.exchange.conversations import ACTION, answer, files, request, run, scope, step, tool

from habilis.errors import ArgsInvalid, HostNotAllowed
from habilis.exchange.drafts import Draft
from habilis.exchange.plan import plan_tool
from habilis.manifest.model import Idempotency, PagesRule, PartTemplate, SignRule, UntilRule
from habilis.messages import Request
from habilis.templating import compile_condition, compile_json, compile_place, compile_text

REGISTER = step("register", request(path="/uploads", json={"size": "{{file.size}}"}), over="files")
SEARCH = step("search", request("GET", "/search"))


def plan(of, **arguments):
    return plan_tool(of, scope(**arguments), ACTION)


def draft(*steps, **arguments):
    """The last request of a call, a draft."""
    last = plan(tool(*steps), **arguments)[-1].request
    assert isinstance(last, Draft)
    return last


def test_one_request_is_told_as_it_would_go():
    (planned,) = plan(tool(request(path="/posts", json={"title": "{{title}}"})), title="Hi")

    assert (planned.step, planned.notes) == ("", ())
    assert isinstance(planned.request, Request)
    assert json.loads(planned.request.body) == {"title": "Hi"}


def test_what_is_wrong_with_what_is_known_is_told():
    with pytest.raises(HostNotAllowed):
        plan(tool(step("a", request(path="https://evil.test/x"))))
    with pytest.raises(ArgsInvalid, match="21 times"):
        plan(tool(REGISTER), files=files(21))


def test_a_step_that_is_passed_over_is_not_told():
    post = step("post", request(path="/posts"), when=compile_condition("{{text}}"))

    planned = plan(tool(SEARCH, post))

    assert [one.step for one in planned] == ["step 'search'"]


def test_a_call_in_which_nothing_is_to_do_says_so():
    with pytest.raises(ArgsInvalid, match="anything to do"):
        plan(tool(REGISTER), files=[])


def test_a_step_that_depends_on_an_answer_says_on_what():
    post = step("post", request(path="/posts"), when=compile_condition("{{search.id}}"))

    (_, planned) = plan(tool(SEARCH, post))

    assert planned.notes == ("only when {{search.id}}",)


def test_a_step_over_the_entries_of_an_answer_is_told_once():
    remove = step("remove", request("DELETE", "/posts/{{item.id}}", json={"n": "{{index}}"}), over="{{search.entries}}")

    (_, planned) = plan(tool(SEARCH, remove))

    assert planned.notes == ("once for each entry of {{search.entries}}",)
    assert (planned.step, planned.request.url) == ("step 'remove'", "https://api.example.com/posts/{{item.id}}")
    assert planned.request.body == {"n": "{{index}}"}


def test_a_step_over_a_list_of_the_arguments_is_told_for_each_entry():
    tag = step("tag", request(path="/tags", json={"name": "{{item}}", "n": "{{index}}"}), over="{{tags}}")

    planned = plan(tool(tag), tags=["a", "b"])

    assert [(one.step, json.loads(one.request.body)) for one in planned] == [
        ("step 'tag' (1)", {"name": "a", "n": 0}),
        ("step 'tag' (2)", {"name": "b", "n": 1}),
    ]


def test_a_step_over_an_earlier_one_knows_its_files_and_how_often_it_runs():
    put = step("put", request("PUT", "/up", json={"id": "{{item.id}}", "name": "{{file.name}}"}), over="register")

    planned = plan(tool(REGISTER, put), files=files(2))

    assert [(one.step, one.request.body) for one in planned[2:]] == [
        ("step 'put' (file 1)", {"id": "{{item.id}}", "name": "1.png"}),
        ("step 'put' (file 2)", {"id": "{{item.id}}", "name": "2.png"}),
    ]


@pytest.mark.parametrize(
    "uncertain", [{"skips_errors": True}, {"when": compile_condition("{{search.ok}}")}], ids=["skips", "when"]
)
def test_how_often_a_step_runs_is_not_known_when_an_earlier_one_may_fail_or_be_passed_over(uncertain):
    register = step("register", request(path="/uploads", json={"size": "{{file.size}}"}), over="files", **uncertain)
    put = step("put", request("PUT", "/up", json={"id": "{{item.id}}"}), over="register")

    planned = plan(tool(SEARCH, register, put), files=files(2))

    assert planned[-1].notes == ("once for each entry of register",)
    assert len(planned) == 4


def test_what_a_failed_step_said_is_not_known_either():
    find = step("find", request("GET", "/x"), skips_errors=True, save_error="fault")
    post = step("post", request(path="/posts", json={"why": "{{fault.message}}"}))

    assert draft(find, post).body == {"why": "{{fault.message}}"}


def test_only_what_waits_stands_as_written_in_a_body():
    body = {
        "title": "{{title}}",
        "gone": "{{missing}}",
        "text": "{{title}} in {{search.name}}",
        "list": [{"id": "{{search.id}}"}, "{{title}}"],
        "media": {"$each": "{{search.entries}}", "$do": {"id": "{{item.id}}", "t": "{{title}}"}},
        "tags": {"$each": "{{tags}}", "$do": "{{item}}"},
        "n": 5,
    }

    assert draft(SEARCH, step("post", request(path="/posts", json=body)), title="Hi", tags=["a"]).body == {
        "title": "Hi",
        "text": "Hi in {{search.name}}",
        "list": [{"id": "{{search.id}}"}, "Hi"],
        "media": {"$each": "{{search.entries}}", "$do": {"id": "{{item.id}}", "t": "{{title}}"}},
        "tags": ["a"],
        "n": 5,
    }


def test_an_address_and_headers_are_filled_as_far_as_they_are_known():
    post = step(
        "post",
        request(
            path="/{{site}}/posts/{{search.id}}?a={{title}}",
            query=(("b", compile_json("{{title}}")), ("c", compile_json("{{search.etag}}"))),
            headers={
                "Authorization": "Bearer ${TOKEN}",
                "If-Match": "{{search.etag}}",
                "X-Gone": "{{missing}}",
                "X-Team": "${TEAM}",
            },
        ),
    )

    found = draft(SEARCH, post, site="a/b", title="x&y")

    assert found.url == "https://api.example.com/a%2Fb/posts/{{search.id}}?a=x%26y&b=x%26y&c={{search.etag}}"
    assert found.headers == (("Authorization", "Bearer secret-token"), ("If-Match", "{{search.etag}}"))


def test_parts_and_a_file_are_told_with_the_file_itself():
    (picture,) = files(1)
    parts = (
        PartTemplate(name="id", value=compile_json("{{search.id}}")),
        PartTemplate(name="media", file=compile_json("{{files}}")),
        PartTemplate(name="thumb", file=compile_json("{{files.0}}"), filename=compile_text("{{search.name}}")),
        PartTemplate(name="none", value=compile_json("{{missing}}")),
    )
    sent = draft(SEARCH, step("send", request(path="/send", multipart=parts)), files=[picture])
    put = draft(
        SEARCH, step("put", request("PUT", "/{{search.id}}", body_file=compile_json("{{files.0}}"))), files=[picture]
    )

    assert sent.body == [
        {"name": "id", "content": "{{search.id}}"},
        {"name": "media", "filename": "1.png", "type": "image/png", "content": picture},
        {"name": "thumb", "filename": "{{search.name}}", "type": "image/png", "content": picture},
    ]
    assert put.body is picture
    assert put.headers == (("Content-Type", "image/png"),)


def test_a_request_that_goes_out_more_than_once_says_so():
    pages = PagesRule(by="page", into="query:page", most=7)
    until = UntilRule(when=compile_condition({"field": "status", "op": "eq", "value": 200}), every_s=2, most_s=60)

    (read,) = plan(tool(request("GET", "/list", pages=pages)))
    (waited,) = plan(tool(request("GET", "/state", until=until)))

    assert read.notes == ("and the pages after it, 7 at most",)
    assert waited.notes == ("again every 2 s until it is ready, for 60 s at most",)
    assert read.request.url == "https://api.example.com/list?page=1"


def test_a_wait_whose_pace_an_answer_says_is_told_as_such():
    ready = compile_condition({"field": "status", "op": "eq", "value": 200})
    until = UntilRule(when=ready, every=compile_place("/wait"), most_s=60)

    (waited,) = plan(tool(request("GET", "/state", until=until)))

    assert waited.notes == ("again as often as it says until it is ready, for 60 s at most",)


def test_what_a_request_gets_once_it_is_whole_is_told_beside_its_draft():
    known = {
        "idempotency": Idempotency(header="X-Id", value=compile_text("{{call_id()}}")),
        "sign": SignRule(scheme="hmac", values={"key": compile_json("k"), "header": compile_json("X-Sig")}),
    }
    waiting = step("post", request(json={"id": "{{search.id}}"}, **known))

    (whole,) = plan(tool(request(json={"id": 1}, **known)))
    told = plan(tool(SEARCH, waiting))[-1]

    assert whole.notes == ()
    assert {"X-Id", "X-Sig"} <= {name for name, _ in whole.request.headers}
    assert told.notes == ("with the header X-Id then", "with its signature (hmac) then")


def test_what_is_wrong_with_what_is_known_of_a_later_request_is_told_too():
    late = {"headers": {"X-Title": "{{title}}"}, "json": {"id": "{{search.id}}"}}
    elsewhere = request(path="https://evil.test/x", json={"id": "{{search.id}}"})

    with pytest.raises(ArgsInvalid, match="title: line breaks") as caught:
        plan(tool(SEARCH, step("post", request(path="/posts", **late))), title="a\r\nX: y")
    with pytest.raises(HostNotAllowed):
        plan(tool(SEARCH, step("post", elsewhere)))

    assert caught.value.where == "step 'post'"


def test_what_is_wrong_with_a_request_that_may_never_go_out_is_a_note():
    post = step("post", request("PUT", "/posts/{{id}}"), when=compile_condition("{{search.missing}}"))

    (_, planned) = plan(tool(SEARCH, post))

    assert planned.request.url == "https://api.example.com/posts/{{id}}"
    assert planned.notes[0] == "only when {{search.missing}}"
    assert planned.notes[1].startswith("and then it could not be sent: ")


def test_a_plan_spends_none_of_the_call_s_ids():
    given = scope()
    first = step("a", request(path="/a", json={"id": "{{uuid()}}"}))
    post = step("b", request(path="/b", json={"id": "{{uuid()}}"}))

    told = [json.loads(one.request.body) for one in plan_tool(tool(first, post), given, ACTION)]
    sent = run(tool(first, post), given, [answer(201), answer(201)]).bodies

    assert told == sent

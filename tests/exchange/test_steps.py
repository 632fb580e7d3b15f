import pytest
from tests.exchange.conversations import ACTION, READ, answer, files, request, run, scope, step, tool

from habilis.errors import (
    ArgsInvalid,
    HostNotAllowed,
    PlainHttpRefused,
    ResponseTooLarge,
    SecretMissing,
    UpstreamError,
    UpstreamProtocol,
    UpstreamTimeout,
)
from habilis.manifest.model import OkRule
from habilis.messages import StepDone
from habilis.templating import compile_condition

REGISTER = step(
    "register",
    request(path="/uploads", json={"size": "{{file.size}}", "at": "{{index}}"}),
    over="files",
    save={"upload": "/uploadUrl", "id": "/id"},
)
PUT = step("put", request("PUT", "{{item.upload}}", json={"name": "{{file.name}}"}), over="register")
POST = step(
    "post",
    request(path="/posts", json={"text": "{{text}}", "media_ids": "{{register.*.id}}"}),
    save={"url": "/url"},
    when=compile_condition("{{text}}"),
)
UPLOAD = tool(REGISTER, PUT, POST, result="/url")


def registered(number):
    return answer(200, {"uploadUrl": f"https://uploads.example.com/{number}", "id": f"m{number}"})


def test_an_upload_of_two_files_registers_puts_and_posts_them_in_turn():
    played = run(
        UPLOAD,
        scope(text="Hello", files=files(2)),
        [registered(1), registered(2), answer(200), answer(200), answer(201, {"url": "https://blog.example/1"})],
    )

    assert played.sent == [
        "POST https://api.example.com/uploads",
        "POST https://api.example.com/uploads",
        "PUT https://uploads.example.com/1",
        "PUT https://uploads.example.com/2",
        "POST https://api.example.com/posts",
    ]
    assert played.bodies == [
        {"size": 10, "at": 0},
        {"size": 20, "at": 1},
        {"name": "1.png"},
        {"name": "2.png"},
        {"text": "Hello", "media_ids": ["m1", "m2"]},
    ]
    assert [sent.where for sent in played.requests] == [
        "step 'register' (file 1)",
        "step 'register' (file 2)",
        "step 'put' (file 1)",
        "step 'put' (file 2)",
        "step 'post'",
    ]
    assert played.result.link == "https://blog.example/1"


def test_each_request_that_changed_something_is_told_with_what_it_saved_before_the_next_one():
    played = run(
        tool(REGISTER, step("look", request("GET", "/state"))),
        scope(files=files(1)),
        [registered(1), answer(200, {})],
    )

    assert played.done == [
        StepDone(step="register", run=0, saved={"upload": "https://uploads.example.com/1", "id": "m1"})
    ]
    assert [sent.is_read for sent in played.requests] == [False, True]


def test_a_call_of_one_request_and_a_call_that_only_reads_tell_of_no_step():
    one = run(tool(request()), scope(), [answer()])
    reads = run(tool(step("a", request()), step("b", request())), scope(), [answer(), answer()], READ)

    assert (one.done, reads.done) == ([], [])


def test_a_step_whose_condition_fills_to_nothing_is_passed_over_and_saves_nothing():
    of = tool(POST, step("after", request(path="/after", json={"url": "{{post.url}}", "x": 1})))

    played = run(of, scope(text=""), [answer()])

    assert played.sent == ["POST https://api.example.com/after"]
    assert played.bodies == [{"x": 1}]


def test_a_condition_of_a_loop_chooses_runs_and_the_list_has_the_chosen_ones():
    pictures = files(3)
    pictures[1]["alt"] = "A cat"
    of = tool(
        step(
            "alt",
            request(path="/alt", json={"alt": "{{file.alt}}"}),
            over="files",
            when=compile_condition("{{file.alt}}"),
        ),
        step("after", request(path="/after", json={"ids": "{{alt.*.id}}", "first": "{{alt.0.id}}"})),
        step("again", request(path="/again", json={"name": "{{file.name}}"}), over="alt"),
    )

    played = run(of, scope(files=pictures), [answer(200, {"id": 7}), answer(), answer()])

    assert played.bodies == [{"alt": "A cat"}, {"ids": [7], "first": 7}, {"name": "2.png"}]
    assert [sent.where for sent in played.requests] == ["step 'alt' (file 2)", "step 'after'", "step 'again' (file 2)"]


def test_a_loop_over_any_list_numbers_its_runs_and_has_no_file():
    of = tool(
        step(
            "tag",
            request(path="/tags", json={"name": "{{item}}", "file": "{{file.name}}"}),
            over="{{tags}}",
            save={"id": "/id"},
        ),
        step("post", request(path="/posts", json={"tags": "{{tag.*.id}}"})),
    )

    played = run(of, scope(tags=["a", "b"], files=files(1)), [answer(200, {"id": 1}), answer(200, {"id": 2}), answer()])

    assert played.bodies == [{"name": "a"}, {"name": "b"}, {"tags": [1, 2]}]
    assert [sent.where for sent in played.requests][:2] == ["step 'tag' (1)", "step 'tag' (2)"]


def test_a_loop_runs_over_the_list_inside_one_answer():
    of = tool(
        step("parts", request("GET", "/parts"), save={"list": "/parts"}),
        step("put", request("PUT", "/part/{{item.n}}"), over="{{parts.list}}"),
    )

    played = run(of, scope(), [answer(200, {"parts": [{"n": 1}, {"n": 2}]}), answer(), answer()])

    assert played.sent[1:] == ["PUT https://api.example.com/part/1", "PUT https://api.example.com/part/2"]


def test_a_loop_over_a_step_that_ran_once_and_saved_a_list_runs_over_that_list():
    of = tool(step("all", request("GET", "/all")), step("each", request("PUT", "/{{item}}"), over="all"))

    played = run(of, scope(), [answer(200, ["x"]), answer()])

    assert played.sent[1:] == ["PUT https://api.example.com/x"]


@pytest.mark.parametrize(("arguments", "sent"), [({}, [{"ids": []}]), ({"files": []}, [{"ids": []}])])
def test_a_loop_over_nothing_runs_not_at_all_and_leaves_an_empty_list(arguments, sent):
    of = tool(REGISTER, step("post", request(json={"ids": "{{register.*.id}}"})))

    assert run(of, scope(**arguments), [answer()]).bodies == sent


def test_a_step_saves_its_whole_answer_where_it_names_nothing_and_status_and_headers_where_it_does():
    of = tool(
        step("a", request()),
        step("b", request(), save={"tag": "header:ETag", "code": "status", "gone": "/none"}),
        step("c", request(json={"a": "{{a.x.y}}", "tag": "{{b.tag}}", "code": "{{b.code}}", "gone": "{{b.gone}}"})),
    )

    played = run(of, scope(), [answer(200, {"x": {"y": [1]}}), answer(201, None, etag='"1"'), answer()])

    assert played.bodies[2] == {"a": [1], "tag": '"1"', "code": 201}


def test_what_an_answer_saved_is_not_filled_again():
    of = tool(step("a", request(), save={"t": "/t"}), step("b", request(json={"t": "{{a.t}}"})))

    played = run(of, scope(), [answer(200, {"t": "${TOKEN} {{a.t}}"}), answer()])

    assert played.bodies[1] == {"t": "${TOKEN} {{a.t}}"}


def test_twenty_one_files_are_refused_before_anything_is_sent():
    played = run(UPLOAD, scope(text="x", files=files(21)), [])

    assert isinstance(played.error, ArgsInvalid)
    assert str(played.error).startswith("step 'register': it would run 21 times, and at most 20 are allowed")
    assert (played.requests, played.error.outcome) == ([], "refused")


def test_a_later_step_with_too_many_runs_of_an_argument_stops_the_call_before_its_first_request():
    of = tool(step("first", request()), step("tag", request(), over="{{tags}}"))

    played = run(of, scope(tags=list(range(21))), [])

    assert isinstance(played.error, ArgsInvalid)
    assert played.requests == []


def test_twenty_one_files_are_fine_where_the_tool_allows_them_or_the_condition_leaves_fewer():
    chosen = step("a", request(), over="files", when=compile_condition("{{file.alt}}"))
    pictures = files(21)
    pictures[0]["alt"] = "x"

    assert len(run(tool(REGISTER, most_runs=21), scope(files=pictures), [registered(1)] * 21).requests) == 21
    assert len(run(tool(chosen), scope(files=pictures), [answer()]).requests) == 1


def test_a_list_of_an_answer_that_is_too_long_stops_before_its_step_and_says_what_was_done():
    of = tool(step("all", request(path="/all")), step("each", request("PUT", "/{{item}}"), over="all"))

    played = run(of, scope(), [answer(200, list(range(21)))])

    assert isinstance(played.error, ResponseTooLarge)
    assert str(played.error).startswith(
        "step 'each': it would run 21 times, and at most 20 are allowed; done before: all"
    )
    assert (len(played.requests), played.error.outcome) == (1, "partial")


@pytest.mark.parametrize(("given", "error"), [("x", ArgsInvalid), ({"a": 1}, ArgsInvalid)])
def test_a_loop_over_an_argument_that_is_no_list_is_refused_before_anything_is_sent(given, error):
    played = run(tool(step("first", request()), step("tag", request(), over="{{tags}}")), scope(tags=given), [])

    assert isinstance(played.error, error)
    assert "step 'tag': it runs over a list, and got something else" in str(played.error)


def test_a_loop_over_an_answer_that_is_no_list_says_so():
    of = tool(step("all", request("GET", "/all")), step("each", request(), over="all"))

    played = run(of, scope(), [answer(200, {"items": []})])

    assert isinstance(played.error, UpstreamProtocol)
    assert (str(played.error), played.error.outcome) == ("step 'each': the answer gave no list to run over", "not_sent")


def test_an_address_of_an_answer_that_leads_elsewhere_ends_the_call_without_being_called():
    evil = answer(200, {"uploadUrl": "https://evil.test/up?sig=1", "id": "m1"})

    played = run(UPLOAD, scope(text="x", files=files(1)), [evil])

    assert isinstance(played.error, HostNotAllowed)
    assert str(played.error).startswith("step 'put' (file 1): evil.test is not in hosts")
    assert played.error.message.endswith("; done before: register (file 1)")
    assert (len(played.requests), played.error.outcome) == (1, "partial")


def test_an_address_of_an_answer_without_encryption_ends_the_call_without_being_called():
    plain = answer(200, {"uploadUrl": "http://uploads.example.com/x", "id": "m1"})

    played = run(UPLOAD, scope(text="x", files=files(1)), [plain])

    assert isinstance(played.error, PlainHttpRefused)
    assert (len(played.requests), played.error.outcome) == (1, "partial")


def test_an_answer_without_the_address_ends_the_call_and_names_the_step():
    played = run(UPLOAD, scope(text="x", files=files(1)), [answer(200, {"id": "m1"})])

    assert played.error.where == "step 'put' (file 1)"
    assert (len(played.requests), played.error.outcome) == (1, "partial")


def test_a_failing_step_says_which_and_lists_what_was_done():
    script = [registered(1), registered(2), answer(), answer(413, {"message": "too large"})]

    played = run(UPLOAD, scope(text="x", files=files(2)), script)

    assert isinstance(played.error, UpstreamError)
    assert played.error.where == "step 'put' (file 2)"
    assert played.error.message == ("answered 413: too large; done before: register (file 1, file 2), put (file 1)")
    assert (played.error.outcome, played.error.retryable) == ("partial", False)
    assert played.error.hint == "what was done stays done, and another call begins from the start"


def test_advice_for_a_failure_half_way_says_that_another_call_begins_from_the_start():
    of = tool(step("media", request()), step("post", request()))

    hint = run(of, scope(), [answer(), answer(429, {"message": "slow down"}, retry_after="60")]).error.hint

    assert hint == (
        "the service asks for a pause of 60 s; try again then;"
        " what was done stays done, and another call begins from the start"
    )


def test_the_first_step_to_fail_leaves_the_call_as_unsent_as_it_was():
    played = run(UPLOAD, scope(text="x", files=files(1)), [answer(422, {"message": "no"})])

    assert (played.error.outcome, played.error.message) == ("not_sent", "answered 422: no")


def test_reads_before_a_failure_are_no_doing():
    of = tool(step("token", request("GET", "/token")), step("post", request()))

    played = run(of, scope(), [answer(200, {}), answer(422, {"message": "no"})])

    assert (played.error.outcome, played.error.message) == ("not_sent", "answered 422: no")


@pytest.mark.parametrize("fault", [answer(500), UpstreamTimeout("slow", where="step 'post'")])
def test_what_may_have_happened_stays_unknown_and_still_lists_what_was_done(fault):
    of = tool(step("media", request()), step("post", request()))

    played = run(of, scope(), [answer(), fault])

    assert played.error.outcome == "unknown"
    assert played.error.message.endswith("; done before: media")


@pytest.mark.parametrize("json", [{}, {"id": "{{media.id}}"}], ids=["known", "waits for an answer"])
def test_a_key_that_is_missing_for_a_later_step_stops_the_call_before_anything_is_sent(json):
    post = request(headers={"Authorization": "Bearer ${OTHER}"}, json=json)

    played = run(tool(step("media", request()), step("post", post)), scope(), [])

    assert isinstance(played.error, SecretMissing)
    assert (played.error.outcome, played.error.where, played.sent) == ("refused", "step 'post'", [])


def test_many_runs_that_were_done_are_told_in_short_and_the_message_keeps_its_bound():
    of = tool(
        step("register", request(), over="files"),
        *(step(f"a_step_with_a_rather_long_name_{n}", request()) for n in range(7)),
        step("last", request()),
    )

    played = run(of, scope(files=files(20)), [answer()] * 27 + [answer(400, {"message": "x" * 400})])

    assert "; done before: register (20 runs: file 1 to file 20), a_step_with" in played.error.message
    assert len(played.error.message) <= 300


def test_a_step_that_may_fail_is_passed_over_with_a_note_and_what_it_said_is_saved():
    of = tool(
        step("find", request(path="/find"), skips_errors=True, save_error="fault"),
        step("post", request(json={"known": "{{fault.data.term_id}}", "found": "{{find.id}}"}), save={"id": "/id"}),
        result="/id",
    )

    played = run(of, scope(), [answer(400, {"message": "term exists", "data": {"term_id": 9}}), answer(200, {"id": 1})])

    assert played.bodies[1] == {"known": 9}
    assert played.result.text == "1"
    assert played.result.notes == ("step 'find' was passed over: answered 400: term exists",)


def test_a_loop_whose_runs_may_fail_lists_what_worked_and_what_the_others_said():
    of = tool(
        step("tag", request(), over="{{tags}}", skips_errors=True, save_error="faults", save={"id": "/id"}),
        step("post", request(json={"ids": "{{tag.*.id}}", "known": "{{faults.*.term}}"})),
    )
    script = [answer(200, {"id": 1}), answer(400, {"term": 9}), UpstreamTimeout("slow", outcome="unknown"), answer()]

    played = run(of, scope(tags=["a", "b", "c"]), script)

    assert played.bodies[3] == {"ids": [1], "known": [9]}


def test_a_step_that_was_passed_over_in_doubt_counts_as_perhaps_done():
    of = tool(step("alt", request(), skips_errors=True), step("post", request()))

    played = run(of, scope(), [answer(500), answer(422, {"message": "no"})])

    assert (played.error.outcome, played.error.message) == ("partial", "answered 422: no; done before: alt (perhaps)")


def test_a_step_that_was_passed_over_in_doubt_is_noted_as_such_where_the_call_goes_well():
    of = tool(step("alt", request(), skips_errors=True), step("post", request()))

    notes = run(of, scope(), [answer(500, {"message": "oops"}), answer()]).result.notes

    assert notes == ("step 'alt' was passed over: answered 500: oops; it may have happened all the same",)


def test_a_step_that_may_fail_does_not_pass_over_a_host_that_is_not_listed():
    of = tool(step("bad", request(path="https://evil.test/"), skips_errors=True), step("post", request()))

    played = run(of, scope(), [])

    assert isinstance(played.error, HostNotAllowed)


def test_a_status_that_is_expected_is_no_failure():
    of = tool(
        step("find", request("GET", "/find", ok=OkRule(statuses=frozenset({404}))), save={"code": "status"}), POST
    )

    played = run(of, scope(text="x"), [answer(404, {}), answer(200, {})])

    assert played.error is None


def test_a_call_whose_steps_are_all_passed_over_is_refused():
    played = run(tool(POST), scope(text=""), [])

    assert isinstance(played.error, ArgsInvalid)
    assert (str(played.error), played.error.outcome) == ("tool 'post': none of its steps has anything to do", "refused")


def test_a_call_whose_only_step_may_fail_fails_with_it():
    played = run(tool(step("find", request(), skips_errors=True)), scope(), [answer(422, {"message": "no"})])

    assert str(played.error) == "step 'find': answered 422: no"


def test_the_map_replaces_arguments_for_every_step():
    of = tool(
        step("a", request(json={"s": "{{size}}"})),
        step("b", request(json={"s": "{{size}}"})),
        map={"size": {"wide": "1536x1024"}},
    )

    assert run(of, scope(size="wide"), [answer(), answer()]).bodies == [{"s": "1536x1024"}] * 2


def test_a_call_may_be_left_between_two_steps():
    from habilis.exchange.call import run_tool

    exchange = run_tool(UPLOAD, scope(text="x", files=files(1)), ACTION)
    next(exchange)

    exchange.close()

    with pytest.raises(StopIteration):
        next(exchange)

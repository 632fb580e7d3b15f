from dataclasses import replace

import pytest
from tests.exchange.conversations import ACTION, NOW, READ, answer, files, request, step, tool

from habilis.errors import NeedsReconnect, UpstreamError
from habilis.exchange.call import run_tool
from habilis.exchange.fill import SignOut
from habilis.exchange.pages import read_pages
from habilis.manifest.model import Idempotency, PagesRule, UntilRule
from habilis.messages import KeysRenewed, Pause, Request, SignedOut, StepDone
from habilis.templating import Made, Scope, compile_condition, compile_place, compile_text

AUTHORIZATION = {"authorization": "Bearer ${TOKEN}"}
BY_CODE = SignOut(expired=compile_condition({"field": "/errcode", "op": "eq", "value": 40001}))
BY_403 = SignOut(expired=compile_condition({"field": "status", "op": "eq", "value": 403}))


class Service:
    """Answers by the token that a request carries, and hands out new ones as long as it has some."""

    def __init__(self, *, taken=("token-2",), tokens=("token-2",), refusal=None):
        self.taken = set(taken)
        self.tokens = list(tokens)
        self.refusal = refusal or answer(401, {"message": "expired"})
        self.keys = {"TOKEN": "token-1"}
        self.seen = []
        self.renewals = 0
        self.done = []

    def scope(self, **arguments):
        return Scope(arguments=arguments, keys=self.keys, made=Made(now=NOW, call_id="call-1"))

    def drive(self, exchange, *answers):
        script = iter(answers)
        asked = next(exchange)
        try:
            while True:
                if isinstance(asked, SignedOut):
                    asked = self.renew(exchange)
                elif isinstance(asked, Request):
                    asked = exchange.send(self.reply(asked, script))
                else:
                    assert isinstance(asked, Pause | StepDone)
                    self.done.append(asked)
                    asked = exchange.send(None)
        except StopIteration as over:
            return over.value

    def reply(self, asked, script):
        token = dict(asked.headers)["authorization"].removeprefix("Bearer ")
        self.seen.append((token, asked))
        return next(script, answer(200, {"id": 5})) if token in self.taken else self.refusal

    def renew(self, exchange):
        self.renewals += 1
        if not self.tokens:
            return exchange.send(None)
        self.keys["TOKEN"] = self.tokens.pop(0)
        return exchange.throw(KeysRenewed())

    @property
    def used(self):
        return [token for token, _ in self.seen]


def run(service, template, bounds=ACTION, *, sign_out=None, **arguments):
    bounds = replace(bounds, sign_out=sign_out or SignOut())
    return service.drive(run_tool(tool(template), service.scope(**arguments), bounds))


def test_a_token_that_is_not_taken_is_renewed_once_and_the_same_body_sent_again():
    service = Service()

    run(service, request(headers=AUTHORIZATION, json={"text": "{{text}}"}), text="hello")

    assert service.used == ["token-1", "token-2"]
    assert service.seen[0][1].body == service.seen[1][1].body == b'{"text": "hello"}'
    assert service.renewals == 1


def test_a_new_token_that_is_not_taken_either_is_reported_and_not_renewed_for_ever():
    service = Service(taken=(), tokens=("token-2", "token-3"))

    with pytest.raises(UpstreamError, match="answered 401: expired"):
        run(service, request(headers=AUTHORIZATION))

    assert service.used == ["token-1", "token-2"]
    assert service.renewals == 1


def test_the_answer_stands_where_there_is_no_new_token():
    service = Service(tokens=())

    with pytest.raises(UpstreamError, match="answered 401: expired"):
        run(service, request(headers=AUTHORIZATION))

    assert service.used == ["token-1"]


def test_what_the_renewal_fails_with_ends_the_call():
    def renew(exchange):
        return exchange.throw(NeedsReconnect("sign in again"))

    service = Service()
    service.renew = renew

    with pytest.raises(NeedsReconnect, match="sign in again"):
        run(service, request(headers=AUTHORIZATION))


def test_a_service_that_says_it_with_200_is_believed_where_the_manifest_knows_how():
    service = Service(refusal=answer(200, {"errcode": 40001, "errmsg": "invalid credential"}))

    result = run(service, request(headers=AUTHORIZATION), sign_out=BY_CODE)

    assert service.used == ["token-1", "token-2"]
    assert result.data == {"id": 5}


def test_the_same_answer_to_a_new_token_is_a_failure_and_never_data():
    service = Service(taken=(), refusal=answer(200, {"errcode": 40001, "errmsg": "invalid credential"}))

    with pytest.raises(UpstreamError, match="does not take the account's token"):
        run(service, request(headers=AUTHORIZATION), sign_out=BY_CODE)

    assert service.renewals == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_sign_of_the_manifests_own_adds_to_401(status):
    service = Service(refusal=answer(status, {"message": "no"}))

    run(service, request(headers=AUTHORIZATION), sign_out=BY_403)

    assert service.used == ["token-1", "token-2"]


def test_403_says_nothing_about_the_token_where_the_manifest_does_not_say_so():
    service = Service(refusal=answer(403, {"message": "not yours"}))

    with pytest.raises(UpstreamError, match="not yours"):
        run(service, request(headers=AUTHORIZATION))

    assert service.renewals == 0


def test_a_call_without_tokens_renews_nothing():
    service = Service()

    with pytest.raises(UpstreamError, match="answered 401"):
        service.drive(run_tool(tool(request(headers=AUTHORIZATION)), service.scope(), ACTION))

    assert service.renewals == 0


def test_a_step_over_twenty_files_goes_on_with_a_new_token_and_sends_no_file_twice():
    service = Service(taken=("token-1", "token-2"))
    sent = []

    def reply(asked, script):
        token, name = (dict(asked.headers)[header] for header in ("authorization", "x-name"))
        sent.append((token.removeprefix("Bearer "), name))
        if len(sent) == 8:
            service.taken.discard("token-1")
        if sent[-1][0] not in service.taken:
            return service.refusal
        return answer(201, {"id": name})

    service.reply = reply
    headers = {**AUTHORIZATION, "x-name": "{{file.name}}"}
    put = step("put", request(headers=headers), over="files")
    bounds = replace(ACTION, sign_out=SignOut())

    service.drive(run_tool(tool(put), service.scope(files=files(20)), bounds))

    names = [f"{n}.png" for n in range(1, 21)]
    assert sent == [
        *(("token-1", name) for name in names[:8]),
        *(("token-2", name) for name in names[7:]),
    ]
    assert [done.run for done in service.done] == list(range(20))
    assert service.renewals == 1


def test_the_header_by_which_a_service_knows_a_request_stays_the_same():
    service = Service()
    known = Idempotency(header="Idempotency-Key", value=compile_text("{{uuid()}}"))

    run(service, request(headers=AUTHORIZATION, idempotency=known))

    first, second = (dict(asked.headers)["Idempotency-Key"] for _, asked in service.seen)
    assert first == second


def test_waiting_for_a_service_goes_on_with_the_new_token():
    service = Service(taken=("token-2",))
    rule = UntilRule(when=compile_condition({"field": "/state", "op": "eq", "value": "ready"}), every_s=1, most_s=60)
    bounds = replace(READ, sign_out=SignOut())
    exchange = run_tool(tool(request("GET", headers=AUTHORIZATION, until=rule)), service.scope(), bounds)

    service.drive(exchange, answer(200, {"state": "busy"}), answer(200, {"state": "ready"}))

    assert service.used == ["token-1", "token-2", "token-2"]
    assert service.renewals == 1


@pytest.mark.parametrize("by", ["page", "next_url"])
def test_a_list_goes_on_at_the_page_whose_token_was_not_taken(by):
    service = Service(taken=("token-1", "token-2"))
    place = {"into": "query:page", "size": 2} if by == "page" else {"next": compile_place("/next")}
    rule = PagesRule(by=by, items=compile_place("/rows"), **place)
    template = request("GET", "/rows", headers=AUTHORIZATION, pages=rule)
    taken = []
    full = {"rows": [2, 3], "next": "https://api.example.com/rows?page=next"}
    pages = iter([answer(200, full), answer(200, {"rows": []})])

    def reply(asked, script):
        service.seen.append((dict(asked.headers)["authorization"].removeprefix("Bearer "), asked))
        if service.used[-1] not in service.taken:
            return service.refusal
        service.taken.discard("token-1")
        return next(pages)

    service.reply = reply
    bounds = replace(READ, sign_out=SignOut())

    service.drive(
        read_pages(template, service.scope(), bounds, where="rows", take=lambda body: taken.append(body["rows"]))
    )

    assert taken == [[2, 3], []]
    (_, first), (_, refused), (_, again) = service.seen
    assert first.url != refused.url == again.url
    assert service.used == ["token-1", "token-1", "token-2"]

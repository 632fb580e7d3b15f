import json
from dataclasses import replace

import pytest

from habilis.errors import ArgsInvalid, HostNotAllowed, SecretMalformed, SecretMissing, UpstreamError
from habilis.exchange.call import run_tool
from habilis.exchange.fill import Bounds
from habilis.hosts import AllowedHosts
from habilis.manifest.model import RequestTemplate, ResultTemplate, Step, Tool
from habilis.messages import Answer, Result
from habilis.names import ToolName
from habilis.templating import Scope, compile_json, compile_place, compile_text, compile_url

LISTED = AllowedHosts.of(["api.example.com"], {})
ACTION = Bounds(hosts=LISTED, private_hosts=frozenset(), is_read=False)
READ = Bounds(hosts=LISTED, private_hosts=frozenset(), is_read=True)


def tool(*, url="https://api.example.com/images", replacements=None, result=None):
    request = RequestTemplate(
        method="POST",
        url=compile_url(url),
        headers=(("Authorization", compile_text("Bearer ${TOKEN}")),),
        json=compile_json({"prompt": "{{prompt}}", "size": "{{size|small}}"}),
    )
    return Tool(
        name=ToolName("draw"),
        label="Drawing",
        description="Draw.",
        input={},
        steps=(Step(name="", request=request),),
        result=ResultTemplate(text=result),
        map=replacements or {},
    )


def scope(**arguments):
    return Scope(arguments=arguments, keys={"TOKEN": "secret-token"})


def answer(status=200, body=b"{}"):
    return Answer(status=status, headers={"content-type": "application/json"}, body=body)


def ended(exchange, reply):
    """Hand the exchange its answer and return what it comes to."""
    with pytest.raises(StopIteration) as done:
        exchange.send(reply)
    return done.value.value


def test_a_call_yields_its_one_request_takes_the_answer_and_returns_the_result():
    exchange = run_tool(tool(result="/url"), scope(prompt="a cat"), ACTION)

    request = next(exchange)
    result = ended(exchange, answer(201, b'{"url": "https://cdn.example/1.png"}'))

    assert (request.where, request.method, request.url) == ("tool 'draw'", "POST", "https://api.example.com/images")
    assert request.headers == (("Authorization", "Bearer secret-token"), ("Content-Type", "application/json"))
    assert json.loads(request.body) == {"prompt": "a cat", "size": "small"}
    assert not request.is_read
    assert result == Result(text="https://cdn.example/1.png", link="https://cdn.example/1.png")


@pytest.mark.parametrize(
    ("given", "sent"),
    [({"size": "wide"}, "1536x1024"), ({"size": "odd"}, "1024x1024"), ({"size": 7}, "seven"), ({}, "small")],
)
def test_arguments_are_replaced_by_the_map_before_the_request_is_filled(given, sent):
    replacements = {"size": {"wide": "1536x1024", "7": "seven", "*": "1024x1024"}}

    request = next(run_tool(tool(replacements=replacements), scope(prompt="a cat", **given), ACTION))

    assert json.loads(request.body)["size"] == sent


def test_a_replacement_is_not_filled_again():
    request = next(run_tool(tool(replacements={"size": {"*": "${TOKEN}"}}), scope(prompt="x", size="a"), ACTION))

    assert json.loads(request.body)["size"] == "${TOKEN}"


@pytest.mark.parametrize(
    ("of", "given", "error"),
    [
        (tool(url="https://evil.test/"), scope(), HostNotAllowed),
        (tool(url="https://api.example.com/{{id}}"), scope(), ArgsInvalid),
        (tool(), Scope(arguments={}, keys={}), SecretMissing),
        (tool(), Scope(arguments={}, keys={"TOKEN": "a\nb"}), SecretMalformed),
    ],
)
def test_what_cannot_be_sent_fails_before_anything_is_yielded(of, given, error):
    exchange = run_tool(of, given, ACTION)

    with pytest.raises(error, match="tool 'draw'") as caught:
        next(exchange)

    assert caught.value.outcome == "refused"


@pytest.mark.parametrize(
    ("status", "bounds", "outcome"),
    [(422, ACTION, "not_sent"), (500, ACTION, "unknown"), (422, READ, "not_sent"), (500, READ, "not_sent")],
)
def test_an_error_of_the_service_ends_the_call_with_what_it_proves(status, bounds, outcome):
    exchange = run_tool(tool(), scope(prompt="x"), bounds)
    next(exchange)

    with pytest.raises(UpstreamError, match=f"tool 'draw': answered {status}: No credit") as caught:
        exchange.send(answer(status, b'{"message": "No credit"}'))

    assert caught.value.outcome == outcome


def test_a_call_may_be_left_after_its_first_request():
    exchange = run_tool(tool(), scope(prompt="x"), ACTION)

    request = next(exchange)
    exchange.close()

    assert request == next(run_tool(tool(), scope(prompt="x"), ACTION))


def test_a_fault_of_the_transport_comes_out_of_the_call_unchanged():
    exchange = run_tool(tool(), scope(prompt="x"), ACTION)
    next(exchange)

    with pytest.raises(TimeoutError, match="slow"):
        exchange.throw(TimeoutError("slow"))


def test_a_file_at_an_address_is_asked_for_without_the_calls_key_and_read_as_it_is():
    of = tool()
    steps = (replace(of.steps[0], request=replace(of.steps[0].request, decode="json")),)
    exchange = run_tool(
        replace(of, steps=steps, result=ResultTemplate(file_url=compile_place("/url"))), scope(), ACTION
    )

    next(exchange)
    request = exchange.send(answer(201, b'{"url": "https://api.example.com/1.png"}'))
    result = ended(exchange, Answer(status=200, headers={}, body=b"\x89PNG\r\n\x1a\n"))

    assert (request.method, request.url, request.headers) == ("GET", "https://api.example.com/1.png", ())
    assert request.is_read
    assert [file.name for file in result.files] == ["1.png"]

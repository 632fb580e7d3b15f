"""The other side of a conversation, played from a script."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

from habilis.errors import HabilisError
from habilis.exchange.call import run_tool
from habilis.exchange.fill import Bounds
from habilis.hosts import AllowedHosts
from habilis.manifest.model import Loop, RequestTemplate, ResultTemplate, Step, Tool
from habilis.messages import Answer, Pause, Request, Result, StepDone
from habilis.names import ToolName
from habilis.templating import FileValue, Made, Scope, compile_json, compile_place, compile_text, compile_url

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LISTED = AllowedHosts.of(["api.example.com", "uploads.example.com"], {})
ACTION = Bounds(hosts=LISTED, private_hosts=frozenset(), is_read=False)
READ = Bounds(hosts=LISTED, private_hosts=frozenset(), is_read=True)
BASE = "https://api.example.com"


@dataclass
class Played:
    """What came of a conversation."""

    requests: list[Request] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    done: list[StepDone] = field(default_factory=list)
    result: Result | None = None
    error: HabilisError | None = None

    @property
    def sent(self):
        """Each request as `METHOD url`."""
        return [f"{request.method} {request.url}" for request in self.requests]

    @property
    def bodies(self):
        """Each JSON body, None for none."""
        return [None if request.body is None else json.loads(request.body) for request in self.requests]


def answer(status=200, body=None, elapsed_s=0.0, **headers):
    """An answer of JSON, bytes or nothing; headers as `retry_after="1"`, several of one name as a list."""
    named = {"content-type": "application/json"}
    for name, value in headers.items():
        named[name.replace("_", "-")] = ", ".join(value) if isinstance(value, list) else value
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Answer(status=status, headers=named, body=data, size=len(data), elapsed_s=elapsed_s)


def play(exchange, answers):
    """Drive an exchange: each request takes the next of `answers`, an error among them is what it fails with."""
    played, script = Played(), iter(answers)
    try:
        asked = next(exchange)
        while True:
            if isinstance(asked, Request):
                played.requests.append(asked)
                reply = next(script)
                asked = exchange.throw(reply) if isinstance(reply, HabilisError) else exchange.send(reply)
            else:
                (played.pauses if isinstance(asked, Pause) else played.done).append(
                    asked.seconds if isinstance(asked, Pause) else asked
                )
                asked = exchange.send(None)
    except StopIteration as over:
        played.result = over.value
    except HabilisError as error:
        played.error = error
    assert next(script, None) is None, "not every answer was asked for"
    return played


def request(method="POST", path="/", **fields):
    """A request template to a path of the service, or to a whole address."""
    url = path if "://" in path or path.startswith("{{") else BASE + path
    saved = {"saved": frozenset({"item", "register"})} if path.startswith("{{") else {}
    if "json" in fields:
        fields["json"] = compile_json(fields["json"])
    if "headers" in fields:
        fields["headers"] = tuple((name, compile_text(text)) for name, text in fields["headers"].items())
    return RequestTemplate(method=method, url=compile_url(url, **saved), **fields)


def step(name, template, *, over=None, save=None, **fields):
    """A step; `over` is `files`, a step's name or a placeholder."""
    loop = None
    if over is not None:
        loop = Loop(each=compile_json(over)) if "{{" in over else Loop(over=over)
    places = tuple((at, compile_place(place)) for at, place in (save or {}).items())
    return Step(name=name, request=template, loop=loop, save=places, **fields)


def tool(*steps, result=None, **fields):
    """A tool of these steps, or of one request."""
    only = steps[0]
    parts = (Step(name="", request=only),) if isinstance(only, RequestTemplate) else steps
    told = result if isinstance(result, ResultTemplate) else ResultTemplate(text=result)
    return Tool(
        name=ToolName("post"), label="Posting", description="Post.", input={}, steps=parts, result=told, **fields
    )


def scope(**arguments):
    """Arguments of a call made at noon."""
    made = Made(now=NOW, call_id="call-1")
    return Scope(arguments=arguments, keys={"TOKEN": "secret-token"}, made=made)


def files(count):
    """So many pictures on disk."""
    return [
        FileValue({"name": f"{n}.png", "mime": "image/png", "size": 10 * n}, path=f"/files/{n}.png")
        for n in range(1, count + 1)
    ]


def run(of, given, answers, bounds=ACTION):
    """Play a tool's whole call."""
    return play(run_tool(of, given, bounds), answers)

"""A call of two steps through the whole engine, against arazzo-runner on the same two requests.

Both send two POSTs of JSON to a service on loopback over a kept connection, the second with a value of the answer to
the first. arazzo-runner keeps every execution and slows down, so that it is measured in the first third of a second of
a fresh process. An action of the same two steps opens a connection for each and syncs lines of activity to the disk;
its figure stands beside, and nothing is claimed of it.

Whether ours slows down is seen in two processes, one of which has made a thousand calls: each makes ten in turn, until
the other has made its first hundred.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import conclude, verdict
from peers.home import make_home
from peers.upstream import running
from peers.venvs import python_with

from habilis.engine.calls import call_tool
from habilis.engine.resolve import CallOrder
from habilis.engine.settings import live_outside, read_settings
from habilis.home.worktree import WorkTreeHome
from habilis.redaction import recording

MANIFEST = """\
id: press
name: Press
version: 1.0.0
summary: A blog to measure with.
transport: http
auth:
  - { env: PRESS_SITE, label: Site, secret: false }
hosts: ["${PRESS_SITE}"]
tools:
"""
TOOL = """\
  - name: {name}
    label: Measuring
    description: Registers a file and makes a post of it.
    role: {role}
    input: {{ type: object, properties: {{ title: {{ type: string }}, html: {{ type: string }} }} }}
    steps:
      - name: register
        request: {{ method: POST, url: "${{PRESS_SITE}}/uploads", json: {{ size: "3" }} }}
        save: {{ id: /id }}
      - name: post
        request:
          method: POST
          url: "${{PRESS_SITE}}/one"
          json: {{ title: "{{{{title}}}}", content: "{{{{html}}}}", media: "{{{{register.id}}}}" }}
        save: {{ link: /link }}
    result: {{ text: "{{{{post.link}}}}" }}
"""
PEER = ("arazzo-runner==0.9.6",)
LEAF = Path(__file__).resolve().parent / "peers" / "steps_arazzo.py"
ROUNDS, SECONDS = 7, 0.3
TEN, HUNDRED, THOUSAND, PAIRS = 10, 100, 1000, 5
LEAST_RATE = 3.0
LEAST_KEPT = 0.95


def main() -> int:
    """Measure, print, and say whether it holds."""
    with running() as port, tempfile.TemporaryDirectory() as folder:
        tools = TOOL.format(name="look", role="read") + TOOL.format(name="put", role="manage")
        home = make_home(Path(folder), port, MANIFEST + tools)
        look, put = caller(home, "look"), caller(home, "put")
        peer = [str(python_with(*PEER)), str(LEAF), str(port), str(SECONDS)]
        rates: dict[str, list[float]] = {"arazzo-runner": [], "two steps that read": [], "two steps that act": []}
        for _ in range(ROUNDS):
            told = subprocess.run(peer, check=True, capture_output=True, text=True).stdout
            rates["arazzo-runner"].append(json.loads(told.splitlines()[-1])["calls_per_s"])
            rates["two steps that read"].append(rate(look))
            rates["two steps that act"].append(rate(put))
        kept = statistics.median(slowed(home.private) for _ in range(PAIRS))
    print(f"{'':<24}{'median':>8}{'min':>8}{'max':>8}   (calls a second)")
    for name, values in rates.items():
        print(f"{name:<24}{statistics.median(values):>8.0f}{min(values):>8.0f}{max(values):>8.0f}")
    theirs, ours = rates["arazzo-runner"], rates["two steps that read"]
    faster = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    return conclude("steps", [
        verdict(
            "calls a second over arazzo-runner",
            ours=statistics.median(ours),
            peer=statistics.median(theirs),
            ratio=faster,
            target=f">= {LEAST_RATE:g}",
            holds=faster >= LEAST_RATE,
        ),
        verdict(
            f"rate after {THOUSAND:,} calls over the first {HUNDRED}",
            ours=kept,
            peer=1,
            ratio=kept,
            target=f">= {LEAST_KEPT}",
            holds=kept >= LEAST_KEPT,
        ),
    ])  # fmt: skip


def caller(home: WorkTreeHome, tool: str) -> Callable[[], None]:
    """Make the function that makes one call."""
    outside = live_outside(read_settings({"HABILIS_HOME": str(home.private)}, private_network="per_account"))
    order = CallOrder(project="acme", tool=tool, arguments={"title": "Hello", "html": "<p>world</p>"})

    def call() -> None:
        with recording():
            result = call_tool(home, order, outside, actor="bench")
        assert result.text.startswith("https://")

    return call


def rate(run: Callable[[], object]) -> float:
    """Calls a second over SECONDS, the first one not counted."""
    run()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        run()
        count += 1
    return count / (time.perf_counter() - start)


def slowed(folder: Path) -> float:
    """How fast a process is after a thousand calls, over how fast another one makes its first hundred."""
    command = [sys.executable, __file__, str(folder)]
    with (
        subprocess.Popen([*command, str(THOUSAND)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as old,
        subprocess.Popen([*command, "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as young,
    ):
        ratios = []
        for _ in range(HUNDRED // TEN):
            took = [asked(process) for process in (old, young)]
            ratios.append(took[1] / took[0])
        for process in (old, young):
            process.stdin.close()
    return statistics.median(ratios)


def asked(process: subprocess.Popen[str]) -> float:
    """Let a process make its next calls, and return the seconds that they took."""
    process.stdin.write("go\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def serve(folder: str, before: int) -> None:
    """Make so many calls, then ten for each line that comes, and tell how long these took."""
    call = caller(WorkTreeHome(Path(folder)), "look")
    for _ in range(before):
        call()
    for _ in sys.stdin:
        start = time.perf_counter()
        for _ in range(TEN):
            call()
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(main())

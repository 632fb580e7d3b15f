"""One call through the whole engine over the same request by a bare pooled HTTP client.

Resolving, checking, the policy, filling, the gate, picking and masking against `httpx.Client.post` and a decode. An
action also syncs two lines of activity, one before its first byte and one after the answer; they are measured beside
it, around the bare client's request: a disk syncs slower after a pause than twice in a row.
"""

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import httpx
from harness import conclude, interleave, ratio, table, verdict
from peers.home import ARGUMENTS, make_home
from peers.upstream import running

from habilis.engine.calls import call_tool
from habilis.engine.resolve import CallOrder
from habilis.engine.settings import live_outside, read_settings
from habilis.redaction import recording

ROUNDS = 15
MOST = 1.25


def main() -> int:
    """Measure, print, and say whether it holds."""
    with running() as port, tempfile.TemporaryDirectory() as folder:
        home = make_home(Path(folder), port)
        outside = live_outside(read_settings({"HABILIS_HOME": str(home.private)}, private_network="per_account"))
        bare = httpx.Client(trust_env=False)
        log = os.open(Path(folder) / "beside.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        line = json.dumps({"id": "0" * 32, "at": "2026-11-30T12:00:00Z", "role": "manage", "tool": "put"}).encode()

        def ours(tool: str) -> None:
            with recording():
                call_tool(home, CallOrder(project="acme", tool=tool, arguments=ARGUMENTS), outside, actor="bench")

        def peer() -> None:
            headers = {"Authorization": "Bearer token-0123456789abcdef"}
            answer = bare.post(f"http://127.0.0.1:{port}/one", json=ARGUMENTS, headers=headers)
            assert answer.json()["link"]

        def peer_between_syncs() -> None:
            os.write(log, line + b"\n")
            os.fsync(log)
            peer()
            os.write(log, line + b"\n")
            os.fsync(log)

        found = interleave(
            {
                "httpx.Client.post and decode": peer,
                "a read call through the engine": lambda: ours("look"),
                "the same between two synced lines": peer_between_syncs,
                "an action through the engine": lambda: ours("put"),
            },
            rounds=ROUNDS,
        )
    table("One warm call", found, against="httpx.Client.post and decode")
    base, reads, between, actions = found.values()
    read_ratio = ratio(reads, base)
    less_syncs = [mine - both + theirs for mine, both, theirs in zip(actions, between, base, strict=True)]
    action_ratio = ratio(less_syncs, base)
    return conclude("call", [
        verdict(
            "read call",
            ours=_ms(reads),
            peer=_ms(base),
            ratio=read_ratio,
            target=f"<= {MOST}",
            holds=read_ratio <= MOST,
        ),
        verdict(
            "action less its two syncs",
            ours=_ms(less_syncs),
            peer=_ms(base),
            ratio=action_ratio,
            target=f"<= {MOST}",
            holds=action_ratio <= MOST,
        ),
    ])  # fmt: skip


def _ms(values: list[float]) -> float:
    return statistics.median(values) * 1e3


if __name__ == "__main__":
    sys.exit(main())

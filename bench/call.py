"""One call through the whole engine over the same request by a bare HTTP client.

Resolving, checking, the policy, filling, the gate, picking and masking against `httpx.Client.post` and a decode on a
kept connection. An action opens a connection of its own, as its rule is (docs/decisions/0006), and syncs a line of
activity before its first byte and one after the answer. So it is measured against a bare client that opens one too,
with two synced lines around its request; the kept connection's figure stands in the table beside it.
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
        kept = httpx.Client(trust_env=False)
        fresh = httpx.Client(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
        log = os.open(Path(folder) / "beside.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        line = json.dumps({"id": "0" * 32, "at": "2026-11-30T12:00:00Z", "role": "manage", "tool": "put"}).encode()

        def ours(tool: str) -> None:
            with recording():
                call_tool(home, CallOrder(project="acme", tool=tool, arguments=ARGUMENTS), outside, actor="bench")

        def post(client: httpx.Client) -> None:
            headers = {"Authorization": "Bearer token-0123456789abcdef"}
            answer = client.post(f"http://127.0.0.1:{port}/one", json=ARGUMENTS, headers=headers)
            assert answer.json()["link"]

        def post_between_syncs() -> None:
            os.write(log, line + b"\n")
            os.fsync(log)
            post(fresh)
            os.write(log, line + b"\n")
            os.fsync(log)

        found = interleave(
            {
                "bare post, kept connection": lambda: post(kept),
                "a read call through the engine": lambda: ours("look"),
                "bare post, new connection": lambda: post(fresh),
                "the same between two synced lines": post_between_syncs,
                "an action through the engine": lambda: ours("put"),
            },
            rounds=ROUNDS,
        )
    table("One warm call", found, against="bare post, kept connection")
    base, reads, opened, between, actions = found.values()
    read_ratio = ratio(reads, base)
    less_syncs = [mine - both + one for mine, both, one in zip(actions, between, opened, strict=True)]
    action_ratio = ratio(less_syncs, opened)
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
            peer=_ms(opened),
            ratio=action_ratio,
            target=f"<= {MOST}",
            holds=action_ratio <= MOST,
        ),
    ])  # fmt: skip


def _ms(values: list[float]) -> float:
    return statistics.median(values) * 1e3


if __name__ == "__main__":
    sys.exit(main())

"""Requests per second and memory of functions/call.py over a bare function that makes the same request."""

import sys

from harness import conclude, ratio, verdict
from peers.home import ARGUMENTS
from peers.servers import BARE, OURS, TOKEN, order, serving, surroundings

ROUNDS = 5
CONNECTIONS = 32
SECONDS = 3
LEAST_RATE = 0.80
MOST_MEMORY = 1.3


def main() -> int:
    """Measure, print, and say whether it holds."""
    rates: dict[str, list[float]] = {"bare": [], "ours": []}
    memory: dict[str, list[float]] = {"bare": [], "ours": []}
    with surroundings() as environ:
        body = order(ARGUMENTS)
        for number in range(ROUNDS):
            for name, source in (("bare", BARE), ("ours", OURS)):
                with serving(source, body, environ, TOKEN) as server:
                    rates[name].append(server.load(body, connections=CONNECTIONS, seconds=SECONDS))
                    memory[name].append(server.memory_mib())
                print(
                    f"round {number + 1}  {name:<6}{rates[name][-1]:8.0f} requests/s {memory[name][-1]:8.1f} MiB",
                    flush=True,
                )
    rate, size = ratio(rates["ours"], rates["bare"]), ratio(memory["ours"], memory["bare"])
    return conclude("serve", [
        verdict(
            "requests per second at 32 connections",
            ours=_middle(rates["ours"]),
            peer=_middle(rates["bare"]),
            ratio=rate,
            target=f">= {LEAST_RATE}",
            holds=rate >= LEAST_RATE,
        ),
        verdict(
            "memory, MiB",
            ours=_middle(memory["ours"]),
            peer=_middle(memory["bare"]),
            ratio=size,
            target=f"<= {MOST_MEMORY}",
            holds=size <= MOST_MEMORY,
        ),
    ])  # fmt: skip


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


if __name__ == "__main__":
    sys.exit(main())

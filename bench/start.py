"""Cold start of functions/call.py until its first good answer, over a bare function that makes the same request."""

import sys

from harness import ratio, table, verdict
from peers.home import ARGUMENTS
from peers.servers import BARE, OURS, TOKEN, order, serving, surroundings

ROUNDS = 9
MOST = 1.4


def main() -> int:
    """Measure, print, and say whether it holds."""
    found: dict[str, list[float]] = {"bare function": [], "functions/call.py": []}
    with surroundings() as environ:
        body = order(ARGUMENTS)
        for number in range(ROUNDS + 1):
            for name, source in (("bare function", BARE), ("functions/call.py", OURS)):
                with serving(source, body, environ, TOKEN) as server:
                    if number:  # the first round warms the disk and writes the compiled files
                        found[name].append(server.cold_s)
    table("From the start of the process to the first good answer", found, against="bare function")
    ours, peer = (sorted(values)[len(values) // 2] * 1e3 for values in reversed(list(found.values())))
    share = ratio(found["functions/call.py"], found["bare function"])
    line = verdict("cold start, ms", ours=ours, peer=peer, ratio=share, target=f"<= {MOST}", holds=share <= MOST)
    return 0 if line["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())

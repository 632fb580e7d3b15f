"""Reading 20 pages of 1,000 rows and writing them, against airbyte-cdk and dlt's REST source.

Ours is the whole daily reading: pages followed by the address each gives, rows checked, summed by day and dimensions,
written as JSON lines and committed to a home. airbyte-cdk reads and writes nothing; dlt reads, normalises and writes
JSON lines. Both keep more beside the rows, such as schemas and state. Each runs in a process of its own that has read
the list once before; memory is the most that the process held, what it imports included. That sets its floor: a process
that has imported httpx and done nothing holds 32 MiB.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness import conclude, ratio, table, verdict
from peers.home import make_home
from peers.upstream import running
from peers.venvs import python_with

MANIFEST = """\
id: shop
name: Shop
version: 1.0.0
summary: A list of rows to measure with.
transport: http
auth:
  - { env: SHOP_SITE, label: Site, secret: false }
hosts: ["${SHOP_SITE}"]
sources:
  traffic:
    requests:
      - request:
          method: GET
          url: "${SHOP_SITE}/pages/1.json"
          pages: { by: next_url, from: /next, items: /data }
        rows: /data
        date: /created_at
        dims: { name: /name, city: /address/city }
        metrics: { amount: /amount, quantity: /quantity }
"""
PAGES, ROWS = 20, 1000
ROUNDS, REPEATS = 5, 4
LEAST_RATE = 4.0
MOST_MEMORY = 0.85
PEERS = {"airbyte-cdk": ("airbyte-cdk==7.39.1",), "dlt": ("dlt==1.31.0",)}
HERE = Path(__file__).resolve().parent


def main() -> int:
    """Measure, print, and say whether it holds."""
    with running(pages) as port, tempfile.TemporaryDirectory() as folder:
        homes = [Path(folder) / str(number) for number in range(ROUNDS * REPEATS)]
        commands: dict[str, Callable[[list[Path]], list[str]]] = {
            "ours": lambda fresh: [sys.executable, __file__, *(str(home / "home") for home in fresh)],
        }
        for name, requirements in PEERS.items():
            leaf = str(HERE / "peers" / f"pages_{name.partition('-')[0]}.py")
            command = [str(python_with(*requirements)), leaf, str(port), str(REPEATS)]
            commands[name] = lambda _, command=command: command
        for home in homes:
            make_home(home, port, MANIFEST)
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        memory: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(ROUNDS):
            fresh = homes[number * REPEATS : (number + 1) * REPEATS]
            for name, command in commands.items():
                took, most = leaf_run(command(fresh))
                seconds[name].append(took)
                memory[name].append(most)
    table(f"{PAGES} pages of {ROWS:,} rows read and written", seconds, against="ours", unit="ms")
    print(
        "\nmost memory held, MiB: "
        + ", ".join(f"{name} {statistics.median(most):.0f}" for name, most in memory.items())
    )
    verdicts = []
    for name in PEERS:
        faster = ratio(seconds[name], seconds["ours"])
        verdicts.append(
            verdict(
                f"rows a second over {name}",
                ours=PAGES * ROWS / statistics.median(seconds["ours"]),
                peer=PAGES * ROWS / statistics.median(seconds[name]),
                ratio=faster,
                target=f">= {LEAST_RATE:g}",
                holds=faster >= LEAST_RATE,
            )
        )
        held = ratio(memory["ours"], memory[name])
        verdicts.append(
            verdict(
                f"memory over {name}",
                ours=statistics.median(memory["ours"]),
                peer=statistics.median(memory[name]),
                ratio=held,
                target=f"<= {MOST_MEMORY:g}",
                holds=held <= MOST_MEMORY,
            )
        )
    return conclude("pages", verdicts)


def pages(port: int) -> dict[str, str]:
    """The pages by file name: rows of some 300 bytes, on the last 29 days, each with the next page's address."""
    today = datetime.now(UTC).date()
    found = {}
    for page in range(1, PAGES + 1):
        numbers = range((page - 1) * ROWS, page * ROWS)
        rows = [
            {
                "id": number,
                "name": f"name {number}",
                "email": f"u{number}@example.com",
                "amount": number * 7919 % 100_000 / 100,
                "quantity": number % 7,
                "created_at": (today - timedelta(days=number % 29)).isoformat(),
                "active": number % 2 == 0,
                "tags": ["a", "b", "c"],
                "address": {"city": "Ghent", "zip": str(9000 + number % 100)},
                "note": "words that say something of it " * 3,
            }
            for number in numbers
        ]
        following = f"http://127.0.0.1:{port}/pages/{page + 1}.json" if page < PAGES else None
        found[f"{page}.json"] = json.dumps({"data": rows, "next": following, "page": page})
    return found


def leaf_run(command: list[str]) -> tuple[float, float]:
    """Run one process: the median of its seconds after the first time, and the most memory that it held in MiB."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"bench: {command[1]} ended with {process.returncode}")
    line = json.loads(said.strip().splitlines()[-1])
    if line["rows"] < PAGES * ROWS:
        raise SystemExit(f"bench: {command[1]} read {line['rows']} rows")
    return statistics.median(line["seconds"][1:]), usage.ru_maxrss / 1024


def read_into(homes: list[str]) -> None:
    """The leaf of ours: the daily reading of each of these homes, none of which has any rows yet."""
    from habilis.engine.settings import live_outside, read_settings
    from habilis.engine.snapshots import snapshot_project
    from habilis.home.worktree import WorkTreeHome

    seconds, rows = [], 0
    for folder in homes:
        home = WorkTreeHome(Path(folder))
        outside = live_outside(read_settings({"HABILIS_HOME": folder}, private_network="per_account"))
        start = time.perf_counter()
        report = snapshot_project(home, "acme", outside, actor="bench")
        seconds.append(time.perf_counter() - start)
        (source,) = report.sources
        if source.fault:
            raise SystemExit(f"bench: {source.fault}")
        rows = source.rows
    print(json.dumps({"seconds": seconds, "rows": rows}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        read_into(sys.argv[1:])
    else:
        sys.exit(main())

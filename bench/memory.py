"""A 500 MB upload and a 500 MB download: how far each lifts the process above idle, over a bare client's streaming.

Ours is the whole engine: an asset's file sent by an action, and the file of a result fetched and kept. Each runs in a
process of its own that has made the same call with a small file before: what it holds then is idle.
Linux alone says how high a process has been since (VmHWM of /proc/self/status).
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness import conclude, table, verdict
from peers.home import make_home
from peers.sink import running

MANIFEST = """\
id: store
name: Store
version: 1.0.0
summary: A store of files to measure with.
transport: http
auth:
  - { env: STORE_SITE, label: Site, secret: false }
hosts: ["${STORE_SITE}"]
tools:
  - name: put
    label: Measuring
    description: Sends the asset's file.
    role: manage
    input: { type: object, properties: {} }
    request: { method: PUT, url: "${STORE_SITE}/", body_file: "{{files.0}}" }
  - name: fetch
    label: Measuring
    description: Fetches a file of so many bytes.
    role: read
    input: { type: object, properties: { size: { type: integer } } }
    request: { method: GET, url: "${STORE_SITE}/link/{{size}}" }
    result: { file_url: /url }
"""
MB = 1024 * 1024
SIZE = 500 * MB
SMALL = 1000
MOST_MB = 80
ROUNDS = 3
STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


def main() -> int:
    """Measure, print, and say whether it holds."""
    if not RESET.exists():
        print("bench: only Linux tells how much memory a process held at most", file=sys.stderr)
        return 69
    took: dict[str, list[float]] = {}
    grown: dict[str, list[float]] = {}
    with running() as port:
        for _ in range(ROUNDS):
            for way in ("up", "down"):
                for name, who in (("bare client", "bare"), ("a call", "ours")):
                    found = measured(who, way, port)
                    took.setdefault(f"{name}, {way}load", []).append(found["seconds"])
                    grown.setdefault(f"{name}, {way}load", []).append(found["grown_mb"])
    table("500 MB", took, against="bare client, upload", unit="s")
    print(f"\n{'':<44}{'median':>10}{'min':>10}{'max':>10}   (MB above idle)")
    for name, values in grown.items():
        print(f"{name:<44}{statistics.median(values):>10.3g}{min(values):>10.3g}{max(values):>10.3g}")
    return conclude("memory", [claim(way, grown) for way in ("upload", "download")])


def claim(way: str, grown: dict[str, list[float]]) -> dict[str, object]:
    """Say whether the call stayed below what it may hold."""
    ours, floor = max(grown[f"a call, {way}"]), max(grown[f"bare client, {way}"])
    return verdict(
        f"500 MB {way}, MB above idle",
        ours=ours,
        peer=floor,
        ratio=ours / max(floor, 0.1),
        target=f"< {MOST_MB} MB",
        holds=ours < MOST_MB,
    )


def measured(who: str, way: str, port: int) -> dict[str, float]:
    """Run one transfer in a process of its own and return what it says of itself."""
    command = [sys.executable, __file__, who, way, str(port)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def transfer(who: str, way: str, port: int) -> None:
    """Make the transfer small, then big, and print what the big one took."""
    with tempfile.TemporaryDirectory() as folder:
        move = {"bare": bare, "ours": ours}[who](way, port, Path(folder))
        move(SMALL)
        RESET.write_text("5")
        idle_kb = held_kb("VmHWM")
        start = time.perf_counter()
        move(SIZE)
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "grown_mb": (held_kb("VmHWM") - idle_kb) / 1024}))


def held_kb(name: str) -> int:
    """Return what the system says of this process's memory."""
    return next(int(line.split()[1]) for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))


def ours(way: str, port: int, folder: Path) -> Callable[[int], None]:
    """A call through the whole engine."""
    from habilis.engine.assets import save_asset
    from habilis.engine.calls import call_tool
    from habilis.engine.resolve import CallOrder
    from habilis.engine.settings import live_outside, read_settings
    from habilis.records import Asset, AssetFile
    from habilis.redaction import recording

    home = make_home(folder, port, MANIFEST)
    outside = live_outside(read_settings({"HABILIS_HOME": str(home.private)}, private_network="per_account"))
    outside = replace(outside, largest_file_bytes=SIZE)
    picture = AssetFile(name="a.png", file="a.png", mime="image/png")
    save_asset(home, "acme", Asset(ref="media/big", title="Big", text="", files=(picture,)), actor="bench")
    place = home.private / "projects/acme/assets/media/big"

    def up(size: int) -> None:
        sized(place / "a.png", size)
        with recording():
            order = CallOrder(project="acme", tool="put", arguments={}, asset="media/big")
            call_tool(home, order, outside, actor="bench")

    def down(size: int) -> None:
        with recording():
            order = CallOrder(project="acme", tool="fetch", arguments={"size": size})
            (kept,) = call_tool(home, order, outside, actor="bench").files
        assert kept.size == size
        (home.private / kept.path).unlink()

    return up if way == "up" else down


def bare(way: str, port: int, folder: Path) -> Callable[[int], None]:
    """The same by an HTTP client alone, streaming as its documentation has it."""
    import httpx

    client = httpx.Client(trust_env=False)

    def up(size: int) -> None:
        with sized(folder / "to-send", size).open("rb") as file:
            answer = client.put(f"http://127.0.0.1:{port}/", content=file, headers={"Content-Length": str(size)})
            assert answer.status_code == 200

    def down(size: int) -> None:
        with client.stream("GET", f"http://127.0.0.1:{port}/{size}") as answer, (folder / "got").open("wb") as file:
            for piece in answer.iter_bytes():
                file.write(piece)
        assert (folder / "got").stat().st_size == size

    return up if way == "up" else down


def sized(path: Path, size: int) -> Path:
    """A file of so many bytes."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


if __name__ == "__main__":
    sys.exit(transfer(*sys.argv[1:3], int(sys.argv[3])) if len(sys.argv) > 1 else main())

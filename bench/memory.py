"""A 500 MB upload and a 500 MB download: how far each lifts the process above idle, over a bare client's streaming.

Each runs in a process of its own that has made the same call with a small file before: what it holds then is idle.
Linux alone says how high a process has been since (VmHWM of /proc/self/status).
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import conclude, table, verdict
from peers.sink import running

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
    """A call of a tool, as the engine makes it: filled, checked, sent, its answer judged and read."""
    from habilis.engine.settings import live_outside, read_settings
    from habilis.exchange.call import run_tool
    from habilis.exchange.fill import Bounds
    from habilis.hosts import AllowedHosts
    from habilis.manifest.model import RequestTemplate, Step, Tool
    from habilis.templating import FileValue, Scope, compile_json, compile_url

    fetched = folder / "fetched"
    fetched.mkdir()
    keys = {"SITE": f"http://127.0.0.1:{port}"}
    request = (
        RequestTemplate(method="PUT", url=compile_url("${SITE}/"), body_file=compile_json("{{file}}"))
        if way == "up"
        else RequestTemplate(method="GET", url=compile_url("${SITE}/{{size}}"))
    )
    tool = Tool(name="move", label="", description="", input={}, steps=(Step(name="", request=request),))
    bounds = Bounds(
        hosts=AllowedHosts.of(["${SITE}"], keys),
        private_hosts=frozenset({f"127.0.0.1:{port}"}),
        is_read=way == "down",
        download_to=str(fetched),
        largest_file_bytes=SIZE,
    )
    outside = live_outside(read_settings({"HABILIS_HOME": str(folder)}, private_network="per_account"))

    def move(size: int) -> None:
        path = sized(folder, size if way == "up" else 0)
        file = FileValue({"name": "a.png", "mime": "image/png", "size": size}, path=str(path))
        outside.drive(run_tool(tool, Scope({"file": file, "size": size}, keys), bounds))
        if way == "down":
            (got,) = fetched.iterdir()
            assert got.stat().st_size == size
            got.unlink()

    return move


def bare(way: str, port: int, folder: Path) -> Callable[[int], None]:
    """The same by an HTTP client alone, streaming as its documentation has it."""
    import httpx

    client = httpx.Client(trust_env=False)

    def up(size: int) -> None:
        with sized(folder, size).open("rb") as file:
            answer = client.put(f"http://127.0.0.1:{port}/", content=file, headers={"Content-Length": str(size)})
            assert answer.status_code == 200

    def down(size: int) -> None:
        with client.stream("GET", f"http://127.0.0.1:{port}/{size}") as answer, (folder / "got").open("wb") as file:
            for piece in answer.iter_bytes():
                file.write(piece)
        assert (folder / "got").stat().st_size == size

    return up if way == "up" else down


def sized(folder: Path, size: int) -> Path:
    """A file of so many bytes."""
    path = folder / "to-send"
    with path.open("wb") as file:
        file.truncate(size)
    return path


if __name__ == "__main__":
    sys.exit(transfer(*sys.argv[1:3], int(sys.argv[3])) if len(sys.argv) > 1 else main())

"""What every bench shares: candidates measured in turn, a ratio inside each round, a table, and one verdict as JSON.

A machine drifts, so A and B are measured A B A B …, never A A B B, and the ratio is taken inside a round. What is
quoted is the median of the rounds' ratios.
"""

import gc
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

Candidates = Mapping[str, Callable[[], object]]


def interleave(candidates: Candidates, *, rounds: int, seconds: float = 0.3) -> dict[str, list[float]]:
    """Seconds per call of each candidate, a value a round; each runs about `seconds` in a round."""
    counts = {name: _calls_that_fill(run, seconds) for name, run in candidates.items()}
    found: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            gc.collect()
            start = time.perf_counter()
            for _ in range(counts[name]):
                run()
            found[name].append((time.perf_counter() - start) / counts[name])
    return found


def once_each(candidates: Candidates, *, rounds: int) -> dict[str, list[float]]:
    """Seconds of one call of each candidate, a value a round: for what is slow, or may not be repeated freely."""
    found: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            gc.collect()
            start = time.perf_counter()
            run()
            found[name].append(time.perf_counter() - start)
    return found


def ratio(ours: Sequence[float], peer: Sequence[float]) -> float:
    """The median of the rounds' ratios."""
    return statistics.median(mine / theirs for mine, theirs in zip(ours, peer, strict=True))


def table(title: str, found: Mapping[str, Sequence[float]], *, against: str, unit: str = "ms") -> None:
    """Print medians, spread, and each candidate's ratio to `against`; values are seconds."""
    factor = {"s": 1, "ms": 1e3, "us": 1e6}[unit]
    print(f"\n{title}\n{'':<44}{'median':>10}{'min':>10}{'max':>10}{'ratio':>8}   ({unit})")
    for name, values in found.items():
        shown = [statistics.median(values) * factor, min(values) * factor, max(values) * factor]
        cells = "".join(f"{value:>10.3g}" if value < 1000 else f"{value:>10.0f}" for value in shown)
        print(f"{name:<44}{cells}{ratio(values, found[against]):>8.2f}", flush=True)


def verdict(name: str, *, ours: float, peer: float, ratio: float, target: str, holds: bool) -> dict[str, object]:
    """Print one claim's outcome as a line of JSON and return it; `ours` and `peer` in the unit of the bench."""
    line = {
        "name": name,
        "ours": _short(ours),
        "peer": _short(peer),
        "ratio": _short(ratio),
        "target": target,
        "holds": holds,
    }
    print(json.dumps(line), flush=True)
    return line


def conclude(name: str, verdicts: Sequence[Mapping[str, object]]) -> int:
    """Print a bench's last line, of a claim that does not hold if there is one; returns the exit code."""
    broken = [entry for entry in verdicts if not entry["holds"]]
    last = dict(broken[0] if broken else verdicts[-1])
    last["name"] = f"{name}: {last['name']}"
    last["holds"] = not broken
    print(json.dumps(last), flush=True)
    return 0 if not broken else 1


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _calls_that_fill(run: Callable[[], object], seconds: float) -> int:
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            run()
        took = time.perf_counter() - start
        if took >= seconds / 4:
            return max(1, round(count * seconds / took))
        count *= 2

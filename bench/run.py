"""Run every bench script and say at the end which targets hold; exits 1 when one does not.

Use: python bench/run.py [NAME...]      `python bench/run.py call home` runs those two

A script prints a table for people and ends with one line of JSON: `name`, `ours`, `peer`, `ratio`, `target`, `holds`.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOT_BENCHES = {"harness", "peers", "run"}
COLUMNS = ("name", "ours", "peer", "ratio", "target", "holds")


def main(wanted: list[str]) -> int:
    """Run the scripts of these names, all when none is given; returns the exit code."""
    names = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_BENCHES)
    if unknown := sorted(set(wanted) - set(names)):
        print(f"bench: there is no {', '.join(unknown)}; there are: {', '.join(names)}", file=sys.stderr)
        return 2
    verdicts = [measure(name) for name in names if not wanted or name in wanted]
    print("\n== summary")
    print_table([[show(verdict.get(column)) for column in COLUMNS] for verdict in verdicts])
    return 0 if all(verdict["holds"] for verdict in verdicts) else 1


def measure(name: str) -> dict:
    """Run one script, show what it prints as it comes, and return its verdict."""
    print(f"\n== {name}", flush=True)
    last = ""
    command = [sys.executable, HERE / f"{name}.py"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as script:
        for line in script.stdout:
            if last:
                print(last, end="", flush=True)
            last = line
    try:
        verdict = json.loads(last)
        is_whole = verdict.keys() >= set(COLUMNS)
    except (ValueError, AttributeError):
        print(last, end="")
        is_whole = False
    # A missed target may end the script with 1; anything else that is not 0 means that it broke.
    if is_whole and script.returncode in ({0} if verdict["holds"] else {0, 1}):
        return verdict
    print(f"bench: {name} ended with {script.returncode} and {'a' if is_whole else 'no'} verdict", flush=True)
    return {"name": name, "target": "to run", "holds": False}


def show(value: object) -> str:
    """Return a cell's text: numbers short, truth as a word, nothing as a dash."""
    match value:
        case bool():
            return "yes" if value else "NO"
        case int() | float():
            return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
        case None:
            return "-"
        case _:
            return str(value)


def print_table(rows: list[list[str]]) -> None:
    """Print the rows below their heads, in columns."""
    widths = [max(map(len, cells)) for cells in zip(COLUMNS, *rows, strict=True)]
    for row in [COLUMNS, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Peers in virtual environments of their own, made when they are first measured and kept for the next time.

They lie under $XDG_CACHE_HOME/habilis-bench, or ~/.cache/habilis-bench: removing that folder is all it takes to be rid
of them.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path


def python_with(*requirements: str) -> Path:
    """The interpreter of an environment that holds these distributions and what they need, and nothing else."""
    mark = hashlib.sha256(" ".join([sys.version, *requirements]).encode()).hexdigest()[:12]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "habilis-bench"
    name = requirements[0].partition("=")[0].partition("[")[0]
    folder = cache / f"{name}-{mark}"
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        print(f"bench: installing {', '.join(requirements)} into {folder}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        installed = subprocess.run(command, check=False, capture_output=True, text=True)
        if installed.returncode:
            print(installed.stderr, f"bench: {name} could not be installed; it is measured against", file=sys.stderr)
            raise SystemExit(69)
        (folder / "done").touch()
    return python

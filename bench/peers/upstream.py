"""A fast service on loopback to measure against: nginx answering a few hundred bytes of JSON from memory.

Use: with running() as port: …      needs nginx (Debian: nginx-light)
"""

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ANSWER = {
    "id": 123,
    "link": "https://blog.example/p/123",
    "status": "publish",
    "title": {"rendered": "Hello"},
    "tags": [1, 2, 3],
    "meta": {"a": 1, "b": "x" * 200},
}

CONFIG = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
  access_log off; default_type application/json; tcp_nodelay on;
  keepalive_requests 100000000; keepalive_timeout 300s;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=1024; root {folder};
    location / {{ return 200 '{answer}'; }}
    location /pages/ {{ }}
  }}
}}
"""


@contextlib.contextmanager
def running(pages: Callable[[int], Mapping[str, str]] | None = None) -> Iterator[int]:
    """Serve until the block ends; yields the port. Every path, any method, answers the same.

    Args:
        pages: What else is served, made for the port: text by file name, at `/pages/NAME`.
    """
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/opt/homebrew/bin")
    if nginx is None:
        print("bench: nginx is missing (Debian: apt-get install nginx-light)", file=sys.stderr)
        raise SystemExit(69)
    with tempfile.TemporaryDirectory(prefix="habilis-bench-") as name, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        folder = Path(name)
        folder.chmod(0o755)  # a server started by root reads as another user
        (folder / "pages").mkdir()
        for file, text in pages(port).items() if pages else ():
            (folder / "pages" / file).write_text(text, encoding="utf-8")
        config = folder / "nginx.conf"
        config.write_text(CONFIG.format(folder=folder, port=port, answer=json.dumps(ANSWER)), encoding="utf-8")
        server = subprocess.Popen(
            [nginx, "-e", str(folder / "error.log"), "-c", str(config)], stderr=subprocess.DEVNULL
        )
        try:
            _wait(port)
            yield port
        finally:
            server.terminate()
            server.wait()


def _wait(port: int) -> None:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise SystemExit("bench: nginx did not start")

"""A service on loopback, a process of its own, that takes and gives bodies of any size and keeps none of it.

Use: with running() as port: …

PUT takes a body; GET /BYTES gives so many, as a picture; GET /link/BYTES says where that is.
"""

import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterator

CHUNK = b"\x89PNG\r\n\x1a\n".ljust(1 << 20, b"\0")


@contextlib.contextmanager
def running() -> Iterator[int]:
    """Serve until the block ends; yields the port."""
    with subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True) as server:
        try:
            yield int(server.stdout.readline())
        finally:
            server.terminate()


def serve() -> None:
    """Answer one connection after another; prints the port first."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            sock, _ = listener.accept()
            with sock, contextlib.suppress(OSError, ValueError):
                while answer(sock):
                    pass


def answer(sock: socket.socket) -> bool:
    """Answer one request; returns whether there was one."""
    head = b""
    while b"\r\n\r\n" not in head:
        if not (got := sock.recv(65536)):
            return False
        head += got
    head, _, begun = head.partition(b"\r\n\r\n")
    method, target, _ = head.split(b"\r\n")[0].decode().split()
    if target.startswith("/link/"):
        sock.sendall(said({"url": f"http://127.0.0.1:{sock.getsockname()[1]}/{target.removeprefix('/link/')}"}))
        return True
    if method == "GET":
        left = int(target[1:])
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: %d\r\n\r\n" % left)
        while left:
            left -= sock.send(CHUNK[:left])
        return True
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    left = int(lengths[0].split(b":")[1]) - len(begun)
    buffer = bytearray(len(CHUNK))
    while left:
        left -= sock.recv_into(buffer)
    sock.sendall(said({}))
    return True


def said(value: object) -> bytes:
    """An answer in JSON."""
    body = json.dumps(value).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


if __name__ == "__main__":
    serve()

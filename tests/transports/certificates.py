"""Real certificates, made by openssl: a good one and those that must be refused."""

import ssl
import subprocess
from pathlib import Path

NAME = "service.test"
_EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class Certificates:
    """Certificates in a folder, one per `kind`: good, expired, other_name, self_signed, unknown_authority."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.authority = self._authority("authority")
        other = self._authority("other")
        self._signed("good", NAME, self.authority, days=2)
        self._signed("expired", NAME, self.authority, days=-1)
        self._signed("other_name", "elsewhere.test", self.authority, days=2)
        self._signed("unknown_authority", NAME, other, days=2)
        self._openssl(
            "req", "-x509", *_EC, "-keyout", "self_signed.key", "-out", "self_signed.pem", "-days", "2",
            "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}",
        )  # fmt: skip

    def serving(self, kind: str) -> ssl.SSLContext:
        """Return what a server needs to show this certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / f"{kind}.pem", self._folder / f"{kind}.key")
        return context

    def _authority(self, name: str) -> str:
        self._openssl(
            "req", "-x509", *_EC, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}"
        )
        return str(self._folder / f"{name}.pem")

    def _signed(self, kind: str, name: str, authority: str, *, days: int) -> None:
        self._openssl(
            "req", *_EC, "-keyout", f"{kind}.key", "-out", f"{kind}.csr", "-subj", f"/CN={name}",
            "-addext", f"subjectAltName=DNS:{name}",
        )  # fmt: skip
        self._openssl(
            "x509", "-req", "-in", f"{kind}.csr", "-CA", authority, "-CAkey", authority.replace(".pem", ".key"),
            "-CAcreateserial", "-days", str(days), "-copy_extensions", "copy", "-out", f"{kind}.pem",
        )  # fmt: skip

    def _openssl(self, *words: str) -> None:
        subprocess.run(["openssl", *words], cwd=self._folder, check=True, capture_output=True)

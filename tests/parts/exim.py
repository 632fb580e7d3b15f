"""A real mail server, Exim: submission with STARTTLS on one port, encrypted from the first byte on another.

One person, `writer`, signs in with a password, over encryption only, and may write to anybody: all mail ends up in one
Maildir. But nobody@ is refused for good, busy@ for now, a mail from any domain but example.test, one with the subject
"unwanted", and one of more than 2,000,000 bytes. It changes its user, so it is started as root.
"""

import secrets
import socket
import sys

from counterpart import HOST, Counterpart, free_port, options

USER = "Debian-exim"
LARGEST_BYTES = 2_000_000

CONFIGURATION = """
primary_hostname = mail.test
spool_directory = {data}/spool
log_file_path = {data}/spool/%slog.log
pid_file_path = {data}/spool/exim.pid
local_interfaces = {host}
daemon_smtp_ports = {port} : {tls_port}
tls_on_connect_ports = {tls_port}
tls_advertise_hosts = *
tls_certificate = {data}/cert.pem
tls_privatekey = {data}/key.pem
auth_advertise_hosts = ${{if def:tls_in_cipher {{*}}}}
message_size_limit = {largest}
acl_smtp_mail = sender
acl_smtp_rcpt = recipient
acl_smtp_data = content
host_lookup =
rfc1413_query_timeout = 0s
keep_environment =
never_users =

begin acl
sender:
  accept sender_domains = example.test
  deny message = no mail from there
recipient:
  require authenticated = *
          message = sign in first
  deny local_parts = nobody
       message = there is no such person
  defer local_parts = busy
        message = come back later
  accept
content:
  deny condition = ${{if eq{{$h_subject:}}{{unwanted}}}}
       message = nobody wants it
  accept

begin routers
everybody:
  driver = accept
  transport = maildir

begin transports
maildir:
  driver = appendfile
  directory = {data}/maildir
  maildir_format
  envelope_to_add
  user = {user}
  mode = 0644

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_condition = ${{if and{{ {{eq{{$auth2}}{{writer}}}} {{eq{{$auth3}}{{{password}}}}} }}}}
  server_set_id = $auth2
"""


def main() -> None:
    """Start Exim and stay."""
    with Counterpart("exim", options("exim", __doc__).parse_args()) as part:
        password = secrets.token_hex(12)
        tls_port = free_port()
        part.run(
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-keyout", part.data / "key.pem", "-out", part.data / "cert.pem"),
            *("-addext", f"subjectAltName=DNS:localhost,IP:{HOST}"),
        )
        for name in ("spool", "maildir"):
            (part.data / name).mkdir()
        for name in ("spool", "maildir", "key.pem"):
            part.run("chown", USER, part.data / name)
        configuration = part.data / "exim.conf"
        configuration.write_text(
            CONFIGURATION.format(
                data=part.data,
                host=HOST,
                port=part.port,
                tls_port=tls_port,
                largest=LARGEST_BYTES,
                user=USER,
                password=password,
            )
        )
        configuration.chmod(0o644)
        part.start("exim4", "-C", configuration, "-bdf")
        part.until(lambda: _listens(part.port) and _listens(tls_port), "Exim's ports")
        part.stay(
            tls_port=tls_port,
            user="writer",
            password=password,
            ca=str(part.data / "cert.pem"),
            maildir=str(part.data / "maildir"),
            largest_bytes=LARGEST_BYTES,
        )


def _listens(port: int) -> bool:
    socket.create_connection((HOST, port), timeout=5).close()
    return True


if __name__ == "__main__":
    sys.exit(main())

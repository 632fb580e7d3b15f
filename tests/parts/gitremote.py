"""Real git remotes: git's own http-backend behind nginx, over http and https, with basic sign-in.

Two people: `writer` may push, `reader` may only fetch (a push answers 403). Four repositories, each a bare one under
`repos`: demo.git and guarded.git (one commit and a tag), empty.git, and readonly.git, where even writer's push answers
403. guarded.git refuses, in a pre-receive hook, what does not move a branch forward, refs/heads/protected/*, and files
named *.env. A repository that a test makes there is served at once. /moved/NAME answers with a redirect to /NAME.
"""

import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from counterpart import HOST, Counterpart, free_port, options

GUARD = """#!/bin/sh
none=0000000000000000000000000000000000000000
while read -r old new ref; do
  case "$ref" in refs/heads/protected/*) echo "guard: $ref is protected" >&2; exit 1 ;; esac
  [ "$new" != $none ] || { echo "guard: $ref stays" >&2; exit 1; }
  [ "$old" = $none ] || git merge-base --is-ancestor "$old" "$new" ||
    { echo "guard: $ref does not move forward" >&2; exit 1; }
  ! git ls-tree -r --name-only "$new" | grep -q '[.]env$' || { echo "guard: no .env files" >&2; exit 1; }
done
"""

GIT_CONFIG = """[user]
  name = Starter
  email = starter@example.test
[safe]
  directory = *
[init]
  defaultBranch = main
"""

NGINX = """
daemon off; worker_processes 1; pid {data}/nginx.pid; {user}
events {{ worker_connections 256; }}
http {{
  access_log {data}/access.log; error_log {data}/nginx-error.log; client_max_body_size 512m;
  client_body_temp_path {data}/temp1; fastcgi_temp_path {data}/temp2; proxy_temp_path {data}/temp3;
  uwsgi_temp_path {data}/temp4; scgi_temp_path {data}/temp5;
  map $request_uri $is_push {{ default 0; "~git-receive-pack" 1; }}
  map "$is_push:$remote_user" $is_refused {{ default 0; "1:reader" 1; }}
  server {{
    listen {host}:{port};
    listen {host}:{tls_port} ssl; ssl_certificate {data}/cert.pem; ssl_certificate_key {data}/key.pem;
    auth_basic "git"; auth_basic_user_file {data}/people;
    location ~ ^/moved/(.*)$ {{ auth_basic off; return 302 /$1$is_args$args; }}
    location / {{
      if ($is_refused) {{ return 403; }}
      fastcgi_pass unix:{data}/fcgi.sock; fastcgi_request_buffering off; fastcgi_read_timeout 120;
      fastcgi_param SCRIPT_FILENAME {backend}; fastcgi_param PATH_INFO $uri;
      fastcgi_param GIT_PROJECT_ROOT {data}/repos; fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param GIT_PROTOCOL $http_git_protocol; fastcgi_param HOME {data};
      fastcgi_param REMOTE_USER $remote_user; fastcgi_param REMOTE_ADDR $remote_addr;
      fastcgi_param REQUEST_METHOD $request_method; fastcgi_param QUERY_STRING $query_string;
      fastcgi_param CONTENT_TYPE $content_type; fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding; fastcgi_param SERVER_PROTOCOL $server_protocol;
    }}
  }}
}}
"""


def main() -> None:
    """Start the remotes and stay."""
    with Counterpart("gitremote", options("gitremote", __doc__).parse_args()) as part:
        # Its own settings only: neither the machine's nor the caller's git configuration may change what it does.
        git = {"HOME": str(part.data), "XDG_CONFIG_HOME": str(part.data), "GIT_CONFIG_NOSYSTEM": "1"}
        (part.data / ".gitconfig").write_text(GIT_CONFIG)
        _make_repositories(part, git)
        _make_certificate(part)
        passwords = {person: secrets.token_hex(12) for person in ("writer", "reader")}
        (part.data / "people").write_text(
            "".join(f"{who}:{part.run('openssl', 'passwd', '-apr1', word)}" for who, word in passwords.items())
        )
        tls_port = free_port()
        configuration = NGINX.format(
            data=part.data,
            user="user root;" if os.geteuid() == 0 else "",  # the socket belongs to whoever started this
            host=HOST,
            port=part.port,
            tls_port=tls_port,
            backend=Path(part.run("git", "--exec-path").strip()) / "git-http-backend",
        )
        (part.data / "nginx.conf").write_text(configuration)
        part.start("fcgiwrap", "-c", "4", "-s", f"unix:{part.data}/fcgi.sock", env=git)
        part.until((part.data / "fcgi.sock").exists, "fcgiwrap's socket")
        part.start("nginx", "-e", part.data / "nginx-error.log", "-c", part.data / "nginx.conf")
        part.until_answering("/demo.git/HEAD")
        part.stay(
            https_url=f"https://{HOST}:{tls_port}",
            ca=str(part.data / "cert.pem"),
            passwords=passwords,
            repos=str(part.data / "repos"),
            moved=f"{part.url}/moved",
        )


def _make_repositories(part: Counterpart, git: Mapping[str, str]) -> None:
    repos, first = part.data / "repos", part.data / "first"
    for name in ("demo", "empty", "guarded", "readonly"):
        may_push = "false" if name == "readonly" else "true"
        part.run("git", "init", "-q", "--bare", repos / f"{name}.git", env=git)
        part.run("git", "-C", repos / f"{name}.git", "config", "http.receivepack", may_push, env=git)
    part.run("git", "init", "-q", first, env=git)
    (first / "README.md").write_text("# A demo\n")
    part.run("git", "-C", first, "add", "README.md", env=git)
    part.run("git", "-C", first, "commit", "-q", "-m", "Begin", env=git)
    part.run("git", "-C", first, "tag", "-a", "v1.0.0", "-m", "Version 1.0.0", env=git)
    for name in ("demo", "guarded", "readonly"):
        part.run("git", "-C", first, "push", "-q", repos / f"{name}.git", "main", "v1.0.0", env=git)
    hook = repos / "guarded.git" / "hooks" / "pre-receive"
    hook.write_text(GUARD)
    hook.chmod(0o755)


def _make_certificate(part: Counterpart) -> None:
    part.run(
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
        *("-addext", f"subjectAltName=IP:{HOST},DNS:localhost"),
        *("-keyout", part.data / "key.pem", "-out", part.data / "cert.pem"),
    )


if __name__ == "__main__":
    sys.exit(main())

"""Signing in from a terminal at a real provider: the command as a program, and a browser that it starts."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.parts.plugin import OpenId

from habilis.engine.accounts import AccountOrder, add_account, allow_private
from habilis.engine.installs import install, plan_install
from habilis.engine.projects import add_project
from habilis.home.keyfile import KeyFile
from habilis.home.worktree import init_home

MANIFEST = """\
id: notes
name: Notes
version: "1.0.0"
summary: Notes.
auth:
  - {{ env: NOTES_SITE, secret: false }}
  - {{ env: NOTES_TOKEN, optional: true }}
connect:
  label: Connect
  flow: oauth2
  needs: [NOTES_SITE]
  authorize_url: "${{NOTES_SITE}}/auth"
  token_url: "${{NOTES_SITE}}/token"
  client_id: native
  scopes: [openid, offline_access, notes.read]
  authorize_params: {{ prompt: consent }}
  issuer: "{issuer}"
  token_env: NOTES_TOKEN
  refresh_env: NOTES_REFRESH
hosts: ["${{NOTES_SITE}}"]
tools:
  - name: whoami
    request: {{ method: GET, url: "${{NOTES_SITE}}/me", headers: {{ Authorization: "Bearer ${{NOTES_TOKEN}}" }} }}
"""
BROWSER = """\
import sys, urllib.request
from http.cookiejar import DefaultCookiePolicy, CookieJar
from pathlib import Path
jar = CookieJar(DefaultCookiePolicy(strict_domain=False))
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar), urllib.request.ProxyHandler({}))
with browser.open(sys.argv[1], timeout=30) as page:
    Path(sys.argv[2]).write_text(page.url + "\\n" + page.read().decode())
"""


@pytest.fixture
def habilis(oidc: OpenId, tmp_path: Path):
    """Runs the command as a program, over a home with an account that nobody has signed in yet."""
    home = init_home(tmp_path / "home")
    add_project(home, "acme", actor="tests")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "extension.yaml").write_text(MANIFEST.format(issuer=oidc.issuer), encoding="utf-8")
    install(home, plan_install(home, str(folder)), actor="tests", now=datetime.now(UTC))
    order = AccountOrder(project="acme", ability="notes", keys={"NOTES_SITE": oidc.issuer})
    add_account(home, order, actor="tests", now=datetime.now(UTC))
    allow_private(home, "acme", "notes", urlsplit(oidc.issuer).netloc, actor="tests")
    home.close()
    script = tmp_path / "browser.py"
    script.write_text(BROWSER)
    environ = {
        **os.environ,
        "HABILIS_HOME": str(tmp_path / "home"),
        "BROWSER": f"{sys.executable} {script} %s {tmp_path / 'page.txt'}",
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from habilis.cli import main; main()", *words]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)

    return run


def test_an_account_is_signed_in_by_a_browser_that_comes_back_to_this_machine(habilis, oidc, tmp_path):
    done = habilis("accounts", "connect", "acme", "notes")

    url, _, text = (tmp_path / "page.txt").read_text().partition("\n")
    keys = KeyFile(tmp_path / "home/projects/acme/connections/notes/.env").load()
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert text == "Notes is signed in. You can close this page."
    assert urlsplit(url).query == ""
    assert keys.keys() >= {"NOTES_TOKEN", "NOTES_REFRESH", "NOTES_TOKEN_EXPIRES_AT"}
    assert not {keys["NOTES_TOKEN"], keys["NOTES_REFRESH"]} & set(f"{done.stdout} {done.stderr}".split())
    known = httpx.get(oidc.whoami, headers={"Authorization": f"Bearer {keys['NOTES_TOKEN']}"}, trust_env=False)
    assert known.status_code == 200


def test_a_call_goes_out_with_what_the_sign_in_brought(habilis):
    before = habilis("call", "acme", "whoami")
    habilis("accounts", "connect", "acme", "notes")

    after = habilis("call", "acme", "whoami")

    assert (before.returncode, after.returncode) == (1, 0), after.stderr
    assert "habilis accounts connect acme notes" in before.stderr

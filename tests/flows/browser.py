"""A person's browser at a blog's own pages."""

import html
import re
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
from tests.parts.plugin import WordPress


class Browser:
    """A person at WordPress' own pages: signs in there, then allows or refuses an application. It runs no script."""

    def __init__(self, wordpress: WordPress, person: str) -> None:
        self._page = wordpress.authorize
        self._client = httpx.Client(timeout=60, trust_env=False)
        self._client.get(wordpress.login)  # sets the cookie that proves that cookies are kept
        form = {"log": person, "pwd": wordpress.password, "testcookie": "1", "redirect_to": wordpress.url}
        answer = self._client.post(wordpress.login, data=form)
        assert answer.status_code == 302, answer.text

    def decide(self, page: str, button: str) -> httpx.Response:
        """Open the page, press `approve` or `reject`, and return where that ends after all redirects."""
        return self._client.get(self._press(page, button), follow_redirects=True)

    def application_password(self) -> str:
        """A new application password of this person."""
        page = urlsplit(self._press(f"{self._page}?app_name={uuid4()}&success_url=http://127.0.0.1:9/", "approve"))
        return parse_qs(page.query)["password"][0]

    def close(self) -> None:
        self._client.close()

    def _press(self, page: str, button: str) -> str:
        """Open the page, press a button, and return where that leads."""
        opened = self._client.get(page, follow_redirects=True).raise_for_status()  # from our start page to WordPress'
        page, text = str(opened.url), opened.text
        hidden = re.findall(r'<input type="hidden"[^>]*\bname="([^"]+)" value="([^"]*)"', text)
        form = {name: html.unescape(value) for name, value in hidden}
        # What a person leaves as it stands in the page's field: WordPress takes a name once per person.
        form["app_name"] = parse_qs(urlsplit(page).query)["app_name"][0]
        answer = self._client.post(page.partition("?")[0], data={**form, button: "1"})
        return answer.headers["location"]

import pytest
from tests.manifest.samples import PRESS, fault, faults, loaded

CONNECT = """\
connect:
  label: Connect with the press
  flow: redirect
  needs: [PRESS_SITE]
  url: "${PRESS_SITE}/authorize?app_id={{app_id}}"
  callback_params: [success_url, reject_url]
  callback: https
  returns: { PRESS_SITE: site_url, PRESS_TOKEN: password }
  denied: { param: success, equals: "false" }
"""
WITH_CONNECT = CONNECT + PRESS


def changed(old: str, new: str) -> str:
    assert WITH_CONNECT.count(old) == 1
    return WITH_CONNECT.replace(old, new)


def test_a_sign_in_by_redirect_is_read_whole():
    flow = loaded(WITH_CONNECT).connect

    assert flow is not None
    assert (flow.label, flow.needs, flow.needs_https) == ("Connect with the press", ("PRESS_SITE",), True)
    assert flow.callback_params == ("success_url", "reject_url")
    assert flow.returns == {"PRESS_SITE": "site_url", "PRESS_TOKEN": "password"}
    assert flow.denied == ("success", "false")
    assert flow.url.arguments == {"app_id"}


def test_a_service_may_call_back_over_http_and_never_say_no():
    flow = loaded(changed("  callback: https\n", "").replace('  denied: { param: success, equals: "false" }\n', ""))

    assert flow.connect is not None
    assert (flow.connect.needs_https, flow.connect.denied) == (False, None)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("needs: [PRESS_SITE]", "needs: [PRESS_SITE, PRESS_SID]", "PRESS_SID is not declared in auth"),
        ("needs: [PRESS_SITE]", "needs: []", "the page lives on ${PRESS_SITE}; list PRESS_SITE under needs"),
        ("PRESS_TOKEN: password", "PRES_TOKEN: password", "not declared in auth; did you mean 'PRESS_TOKEN'?"),
        ("PRESS_TOKEN: password", "PRESS_TOKEN: site_url", "the first parameter of this name is in line 8"),
        ("[success_url, reject_url]", "[success_url, success_url]", "named twice: the first parameter"),
        ("[success_url, reject_url]", "[]", "found none; expected at least 1"),
        ('"${PRESS_SITE}/authorize?app_id={{app_id}}"', "https://evil.test/authorize", "evil.test is not in hosts"),
        ("{{app_id}}", "{{title}}", "nothing fills {{title}}; known here are app_id, app_name"),
        ("callback: https", "callback: http", "found 'http'; expected https; did you mean 'https'?"),
        ('equals: "false"', "equals: false", 'expected text; found false; quote it'),
        ("param: success, ", "", "connect.denied.param: missing"),
        ("flow: redirect", "flow: redirct", "expected one of redirect, oauth2, cloud, device, service_"),
        ("flow: redirect", "flow: redirct", "did you mean 'redirect'?"),
        ("  flow: redirect\n", "", "connect.flow: missing; expected one of redirect, oauth2, cloud, device, service_"),
        ("returns: { PRESS_SITE: site_url, PRESS_TOKEN: password }", "returns: {}", "found none; expected at least 1"),
        ("site_url", '"site url"', "expected the name of a query parameter"),
    ],
)  # fmt: skip
def test_a_sign_in_that_cannot_work_is_a_fault_at_install(old, new, expected):
    assert expected in fault(changed(old, new))


GOOGLE = """\
auth:
  - { env: PRESS_SITE, secret: false }
  - { env: PRESS_TOKEN, optional: true }
  - { env: PRESS_REFRESH, optional: true }
  - { env: PRESS_KEY_FILE, optional: true }
connect:
  - label: Connect with Google
    flow: cloud
    provider: google
    scopes: [https://example.com/auth/read]
    token_env: PRESS_TOKEN
    refresh_env: PRESS_REFRESH
  - flow: service_account
    key_file: PRESS_KEY_FILE
    token_url: https://api.example.com/token
    scopes: [https://example.com/auth/read]
    token_env: PRESS_TOKEN
"""
WITH_GOOGLE = GOOGLE + PRESS.replace(PRESS[PRESS.index("auth:") : PRESS.index("hosts:")], "")


def test_several_ways_to_sign_in_are_read_in_their_order():
    manifest = loaded(WITH_GOOGLE)

    cloud, account = manifest.ways
    assert (cloud.flow, cloud.provider, cloud.refresh_env) == ("cloud", "google", "PRESS_REFRESH")
    assert (account.flow, account.label, account.key_file) == ("service_account", "Service account", "PRESS_KEY_FILE")
    assert account.token_url.source == "https://api.example.com/token"
    assert manifest.connect is None


def test_the_first_redirect_is_the_button_wherever_it_stands():
    redirect = "  - " + CONNECT.removeprefix("connect:\n").strip().replace("\n", "\n  ") + "\n"
    redirect = redirect.replace("PRESS_TOKEN", "PRESS_KEY_FILE")

    manifest = loaded(WITH_GOOGLE.replace("id: press\n", redirect + "id: press\n", 1))

    assert [way.flow for way in manifest.ways] == ["cloud", "service_account", "redirect"]
    assert manifest.connect == manifest.ways[2]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("    provider: google\n", "", "7:5 connect[0].provider: missing; it is required here"),
        ("    flow: cloud\n", "    flow: device\n", "9:5 connect[0].provider: unknown field"),
        ("provider: google", "providr: google", "connect[0].providr: unknown field; did you mean 'provider'?"),
        ("refresh_env: PRESS_REFRESH", "refresh_env: press", "connect[0].refresh_env: 'press' is no key name"),
        ("token_env: PRESS_TOKEN", "token_env: PRES_TOKEN", "did you mean 'PRESS_TOKEN'?"),
        ("label: Connect with Google", "label: ''", "connect[0].label: found nothing; expected text"),
        ("key_file: PRESS_KEY_FILE", "key_file: KEY", "connect[1].key_file: KEY is not declared in auth"),
        ("https://api.example.com/token", "https://evil.test/token", "evil.test is not in hosts"),
        ("{ env: PRESS_TOKEN, optional: true }", "{ env: PRESS_TOKEN }", "this token is never stored"),
    ],
)  # fmt: skip
def test_a_way_that_cannot_work_is_a_fault_at_install(old, new, expected):
    assert WITH_GOOGLE.count(old) >= 1

    assert any(expected in one for one in faults(WITH_GOOGLE.replace(old, new, 1)))


def test_a_service_accounts_token_needs_no_key_of_its_own():
    text = WITH_GOOGLE.replace("  - { env: PRESS_TOKEN, optional: true }\n", "", 1).replace(
        "token_env: PRESS_TOKEN\n    refresh_env: PRESS_REFRESH", "token_env: PRESS_REFRESH"
    )

    assert [key.env for key in loaded(text).auth] == ["PRESS_SITE", "PRESS_REFRESH", "PRESS_KEY_FILE"]


CHOICES = """\
    choices:
      request: { method: GET, url: https://api.example.com/sites, headers: { Authorization: "Bearer ${PRESS_TOKEN}" } }
      list: /accounts/*/sites/*
      value: /id
      label: /name
      strip: sites/
"""
WITH_CHOICES = PRESS.replace(
    "  - { env: PRESS_SITE, label: Site, secret: false }\n",
    f"  - env: PRESS_SITE\n    label: Site\n    secret: false\n{CHOICES}",
)


def test_a_key_may_be_picked_from_what_the_service_has():
    choices = loaded(WITH_CHOICES).auth[0].choices

    assert choices is not None
    assert (choices.list.source, choices.value.source, choices.label.source) == ("/accounts/*/sites/*", "/id", "/name")
    assert (choices.strip, choices.request.method) == ("sites/", "GET")


def test_a_choice_without_a_label_is_shown_as_its_value():
    choices = loaded(WITH_CHOICES.replace("      label: /name\n", "")).auth[0].choices

    assert choices is not None
    assert choices.label == choices.value


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("list: /accounts/*/sites/*", "list: accounts", "a pointer is empty or starts with '/'"),
        ("      value: /id\n", "", "auth[0].choices.value: missing"),
        ("https://api.example.com/sites", "https://evil.test/sites", "evil.test is not in hosts"),
        ("https://api.example.com/sites", '"https://api.example.com/{{site}}"', "nothing fills {{site}}"),
        ("      strip: sites/\n", "      filter: x\n", "auth[0].choices.filter: unknown field"),
    ],
)
def test_choices_that_cannot_be_read_are_a_fault_at_install(old, new, expected):
    assert expected in fault(WITH_CHOICES.replace(old, new))

import pytest
from tests.manifest.samples import PRESS, fault, faults, loaded, place

from habilis.manifest.model import OAuth2Flow, SessionFlow
from habilis.templating import Scope

AUTH = PRESS[PRESS.index("auth:") : PRESS.index("hosts:")]
REST = PRESS.replace(AUTH, "")
KEYS = """\
auth:
  - { env: PRESS_SITE, label: Site, secret: false }
  - { env: PRESS_TOKEN, label: Sign-in }
  - { env: PRESS_ID, label: Application id, secret: false }
  - { env: PRESS_SECRET, label: Application secret, optional: true }
  - { env: PRESS_DESK, label: Desk, optional: true, secret: false }
"""
OAUTH2 = """\
connect:
  label: Connect with the press
  flow: oauth2
  authorize_url: https://api.example.com/oauth/authorize?theme=dark
  token_url: https://api.example.com/oauth/token
  refresh_url: https://api.example.com/oauth/refresh
  client_id: "${PRESS_ID}"
  client_secret: "${PRESS_SECRET}"
  client_id_param: client_key
  client_auth: post
  scopes: [read, "https://example.com/auth/write"]
  scope_separator: ","
  token_body: json
  authorize_params: { prompt: consent, owner: "${PRESS_DESK|user}" }
  token_params: { audience: press }
  refresh_params: { audience: "${PRESS_SITE}" }
  token_env: PRESS_TOKEN
  refresh_env: PRESS_REFRESH
  needs: [PRESS_SITE]
  issuer: https://api.example.com/oauth
  expired: { any: [{ field: status, op: eq, value: 403 }, { field: /errcode, op: eq, value: 40001 }] }
  returns: { PRESS_DESK: "token:/desk/0/id" }
"""
DEVICE = """\
connect:
  label: Connect with a code
  flow: device
  device_url: https://api.example.com/device
  token_url: https://api.example.com/token
  client_id: "${PRESS_ID}"
  scopes: [read]
  token_env: PRESS_TOKEN
  refresh_env: PRESS_REFRESH
"""
MACHINE = """\
connect:
  flow: client_credentials
  token_url: https://api.example.com/token
  client_id: "${PRESS_ID}"
  client_secret: "${PRESS_SECRET}"
  scopes: [read]
  token_params: { audience: press }
  token_env: PRESS_OWN
"""
SESSION = """\
defaults:
  headers: { Authorization: "Bearer ${PRESS_TOKEN}", X-Desk: "${PRESS_DESK}" }
connect:
  flow: session
  request:
    method: POST
    url: https://api.example.com/session
    json: { user: "${PRESS_ID}", password: "${PRESS_SECRET}" }
  token: /jwt
  expires: /exp
  expires_unit: unix
  refresh: header:X-Refresh
  refresh_request:
    method: POST
    url: https://api.example.com/session/refresh
    json: { token: "${PRESS_REFRESH}" }
  token_env: PRESS_TOKEN
  refresh_env: PRESS_REFRESH
  returns: { PRESS_DESK: /desk }
"""
REGISTER = """\
connect:
  label: Connect with the press
  flow: oauth2
  needs: [PRESS_SITE]
  authorize_url: "${PRESS_SITE}/oauth/authorize"
  token_url: "${PRESS_SITE}/oauth/token"
  scopes: [read, write]
  token_env: PRESS_TOKEN
  register:
    url: "${PRESS_SITE}/apps"
    client_id_env: PRESS_OWN_ID
    client_secret_env: PRESS_OWN_SECRET
"""
RESERVED = [
    "state", "redirect_uri", "response_type", "code_challenge", "code_challenge_method", "client_id", "scope", "nonce",
    "grant_type", "code", "code_verifier", "refresh_token", "client_secret", "request", "request_uri", "assertion",
    "client_assertion", "client_assertion_type", "device_code",
]  # fmt: skip


def whole(connect: str) -> str:
    return connect + KEYS + REST


def changed(connect: str, old: str, new: str) -> str:
    assert connect.count(old) == 1
    return whole(connect.replace(old, new))


def the_way(connect: str):
    (way,) = loaded(whole(connect)).ways
    return way


def test_a_sign_in_by_code_is_read_whole():
    way = the_way(OAUTH2)

    assert isinstance(way, OAuth2Flow)
    assert way.authorize_url.source == "https://api.example.com/oauth/authorize?theme=dark"
    assert way.token_url.source == "https://api.example.com/oauth/token"
    assert way.refresh_url is not None
    assert way.refresh_url.source == "https://api.example.com/oauth/refresh"
    assert (way.client_id.source, way.client_secret and way.client_secret.source) == ("${PRESS_ID}", "${PRESS_SECRET}")
    assert (way.scopes, way.scope_separator) == (("read", "https://example.com/auth/write"), ",")
    assert (way.token_env, way.refresh_env, way.needs) == ("PRESS_TOKEN", "PRESS_REFRESH", ("PRESS_SITE",))
    assert (way.client_auth, way.client_id_param, way.token_body, way.pkce) == ("post", "client_key", "json", True)
    assert {name: text.source for name, text in way.authorize_params.items()} == {
        "prompt": "consent",
        "owner": "${PRESS_DESK|user}",
    }
    assert [text.source for text in (*way.token_params.values(), *way.refresh_params.values())] == [
        "press",
        "${PRESS_SITE}",
    ]
    assert way.issuer == "https://api.example.com/oauth"
    assert way.expired is not None
    assert [(key, one.callback, one.token and one.token.source) for key, one in way.returns.items()] == [
        ("PRESS_DESK", "", "/desk/0/id")
    ]


def test_what_a_sign_in_by_code_leaves_out_is_the_usual():
    way = the_way("""\
connect:
  label: Connect
  flow: oauth2
  authorize_url: https://api.example.com/authorize
  token_url: https://api.example.com/token
  client_id: "${PRESS_ID}"
  token_env: PRESS_TOKEN
""")

    assert (way.client_secret, way.refresh_url, way.register, way.afterwards, way.expired) == (None,) * 5
    assert (way.client_auth, way.client_id_param, way.token_body, way.pkce) == ("", "client_id", "form", True)
    assert (way.scopes, way.scope_separator, way.refresh_env, way.issuer) == ((), " ", "", "")


def test_a_client_that_is_told_in_json_sends_json():
    text = OAUTH2.replace("client_auth: post", "client_auth: json").replace("  token_body: json\n", "")

    assert the_way(text).token_body == "json"


def test_extra_parameters_without_a_place_are_those_of_the_page():
    way = the_way(OAUTH2.replace("authorize_params:", "params:"))

    assert list(way.authorize_params) == ["prompt", "owner"]


def test_a_sign_in_on_another_device_and_one_of_the_application_are_read():
    device, machine = the_way(DEVICE), the_way(MACHINE)

    assert (device.device_url.source, device.label) == ("https://api.example.com/device", "Connect with a code")
    assert (device.token_env, device.refresh_env, device.client_secret) == ("PRESS_TOKEN", "PRESS_REFRESH", None)
    assert (machine.label, machine.token_env, machine.scopes) == ("Client credentials", "PRESS_OWN", ("read",))
    assert machine.token_params["audience"].source == "press"


def test_a_session_is_read_whole():
    way = the_way(SESSION)

    assert isinstance(way, SessionFlow)
    assert (way.label, way.token.source, way.expires and way.expires.source) == ("Session", "/jwt", "/exp")
    assert (way.expires_unit, way.refresh and way.refresh.source) == ("unix", "header:X-Refresh")
    assert {key: one.source for key, one in way.returns.items()} == {"PRESS_DESK": "/desk"}


def test_who_signs_in_shows_no_token_of_before():
    way = the_way(SESSION)

    assert [name for name, _ in way.request.headers] == ["X-Desk"]
    assert way.refresh_request is not None
    assert [name for name, _ in way.refresh_request.headers] == ["Authorization", "X-Desk"]


def test_an_application_is_registered_as_the_rfc_says_where_nothing_is_written():
    way = the_way(REGISTER)

    assert way.register is not None
    assert way.register.client_secret is not None
    assert (way.register.client_id.source, way.register.client_secret.source) == ("/client_id", "/client_secret")
    assert (way.client_id.source, way.client_secret.source) == ("${PRESS_OWN_ID}", "${PRESS_OWN_SECRET}")
    known = {"redirect_uri": "http://127.0.0.1/cb", "scopes": "read write", "app_name": "Habilis"}
    assert way.register.body.fill(Scope(arguments=known, keys={})) == {
        "client_name": "Habilis",
        "redirect_uris": ["http://127.0.0.1/cb"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "scope": "read write",
    }


def test_a_public_client_registers_without_a_secret():
    way = the_way(REGISTER.replace("    client_secret_env: PRESS_OWN_SECRET\n", ""))

    assert way.register is not None
    assert (way.register.client_secret, way.client_secret) == (None, None)
    assert '"none"' in str(way.register.body.source).replace("'", '"')


def test_a_request_after_the_sign_in_learns_keys_with_the_new_token():
    text = OAUTH2 + (
        "  afterwards:\n"
        '    request: { method: GET, url: https://api.example.com/me, headers: { A: "Bearer ${PRESS_TOKEN}" } }\n'
        "    returns: { PRESS_SITE: /site }\n"
    )

    after = the_way(text).afterwards

    assert after is not None
    assert (after.request.method, after.returns["PRESS_SITE"].source) == ("GET", "/site")


def test_keys_that_a_sign_in_keeps_need_no_declaration_and_are_never_required():
    manifest = loaded(whole(REGISTER))

    assert manifest.required_keys == ("PRESS_SITE", "PRESS_ID")
    assert manifest.public_keys - {"PRESS_SITE", "PRESS_ID", "PRESS_DESK"} == {
        "PRESS_TOKEN_EXPIRES_AT",
        "PRESS_TOKEN_MISSING_SCOPES",
        "PRESS_OWN_ID_REDIRECT_URI",
    }
    assert set(manifest.kept_keys) == {
        "PRESS_TOKEN",
        "PRESS_TOKEN_EXPIRES_AT",
        "PRESS_TOKEN_MISSING_SCOPES",
        "PRESS_OWN_ID",
        "PRESS_OWN_ID_REDIRECT_URI",
        "PRESS_OWN_SECRET",
    }


def test_requests_may_use_every_key_that_a_sign_in_keeps():
    text = REST.replace('"Bearer ${PRESS_TOKEN}"', '"Bearer ${PRESS_OWN} until ${PRESS_SITE}"')

    assert loaded(MACHINE + KEYS + text).ways[0].kept_keys == ("PRESS_OWN",)
    assert "${PRESS_OWNED} is not declared in auth" in fault(MACHINE + KEYS + text.replace("_OWN}", "_OWNED}"))


@pytest.mark.parametrize("params", ["params", "authorize_params", "token_params", "refresh_params"])
@pytest.mark.parametrize("name", [*RESERVED, "State", "state[]", "redirect.uri", "client_key"])
def test_what_a_sign_in_says_itself_is_no_extra_parameter(params, name):
    others = "".join(line for line in OAUTH2.splitlines(keepends=True) if "_params:" not in line)
    written = f'"{name}": fixed'
    wrong = whole(f"{others}  {params}: {{ {written} }}\n")

    found = fault(wrong)

    assert found.startswith(f"{place(wrong, written)} connect.{params}")
    assert "the sign-in sets " in found


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize("address", ["oauth/authorize?theme=dark", "oauth/token", "oauth/refresh"])
def test_what_a_sign_in_says_itself_is_in_no_address(address, name):
    wrong = changed(OAUTH2, address, f"{address}{'&' if '?' in address else '?'}{name}=fixed")

    assert f"the sign-in sets {name} itself; leave it out" in fault(wrong)


PLACES = ["https://api.example.com/oauth/authorize?theme=dark", "https://api.example.com/oauth/token"]
EVERY_WAY = [whole(connect) for connect in (OAUTH2, DEVICE, MACHINE, SESSION, REGISTER)]
ADDRESSES = [
    ("http://api.example.com/token", "would be called without encryption; use https"),
    ("https://evil.test/token", "evil.test is not in hosts"),
    ("https://api.example.com.evil.test/token", "is not in hosts"),
    ("https://api.example.com@evil.test/token", "may not carry a user name"),
    ("javascript:alert(1)", "only absolute https URLs, or a key at the start"),
    ("file:///etc/passwd", "only absolute https URLs, or a key at the start"),
    ("//api.example.com/token", "only absolute https URLs, or a key at the start"),
    ("/elsewhere", "only absolute https URLs, or a key at the start"),
    ("https://api.example.com/#/token", "an address of a sign-in has no `#`"),
    ('"${PRESS_ID}/token"', 'list "${PRESS_ID}" under hosts'),
    ('"https://api.example.com/{{title}}"', "nothing fills {{title}}"),
]


@pytest.mark.parametrize("address", [*PLACES, "https://api.example.com/oauth/refresh"])
@pytest.mark.parametrize(("other", "expected"), ADDRESSES)
def test_a_sign_in_goes_only_where_the_ability_may(address, other, expected):
    wrong = changed(OAUTH2, address, other)

    found = fault(wrong)

    assert expected in found
    assert found.startswith(f"{place(wrong, other)} connect.")


@pytest.mark.parametrize(("other", "expected"), ADDRESSES)
@pytest.mark.parametrize(("connect", "address"), [(DEVICE, "https://api.example.com/device"), (MACHINE, PLACES[1])])
def test_every_other_sign_in_goes_only_there_too(connect, address, other, expected):
    text = connect.replace("https://api.example.com/token", address) if connect is MACHINE else connect

    assert expected in fault(changed(text, address, other))


def test_an_address_may_be_a_keys_whose_host_is_listed():
    text = OAUTH2.replace('"https://', '"').replace(PLACES[1], '"${PRESS_SITE}/oauth/token"')

    assert the_way(text).token_url.host_key == "PRESS_SITE"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("label: Connect with the press", "label: ''", "connect.label: found nothing; expected text"),
        ("  label: Connect with the press\n", "", "connect.label: missing"),
        ("  token_env: PRESS_TOKEN\n", "", "connect.token_env: missing"),
        ("token_env: PRESS_TOKEN", "token_env: PRES_TOKEN", "connect.token_env: PRES_TOKEN is not declared in auth"),
        ("token_env: PRESS_TOKEN", "token_env: token", "connect.token_env: 'token' is no key name"),
        ("token_env: PRESS_TOKEN", f"token_env: {'A' * 50}", "connect.token_env: expected at most 49 characters"),
        ("refresh_env: PRESS_REFRESH", "refresh_env: LD_PRELOAD", "changes how programs start and cannot be a key"),
        ("refresh_env: PRESS_REFRESH", "refresh_env: PRESS_TOKEN", "PRESS_TOKEN is the refresh token here and the acc"),
        ("refresh_env: PRESS_REFRESH", "refresh_env: PRESS_DESK", "a value that is learned here and the refresh token"),
        ("needs: [PRESS_SITE]", "needs: [PRESS_SIDE]", "not declared in auth; did you mean 'PRESS_SITE'?"),
        ("needs: [PRESS_SITE]", "needs: [PRESS_TOKEN]", "PRESS_TOKEN is what this sign-in brings; it cannot be asked"),
        ('  client_id: "${PRESS_ID}"\n', "", "connect.client_id: missing; it is required here, unless `register`"),
        ('client_id: "${PRESS_ID}"', 'client_id: "${PRESS_TOKEN}"', "${PRESS_TOKEN} is what this sign-in brings; it"),
        ('client_id: "${PRESS_ID}"', 'client_id: "${PRESS_IT}"', "${PRESS_IT} is not declared in auth"),
        ('client_id: "${PRESS_ID}"', 'client_id: "{{id}}"', "nothing fills {{id}}"),
        ("prompt: consent", 'prompt: "${PRESS_SECRET}"', "${PRESS_SECRET} is the application's secret, and a browser"),
        ("theme=dark", "theme=${PRESS_SECRET}", "${PRESS_SECRET} is the application's secret, and"),
        ("theme=dark", "theme=${PRESS_REFRESH}", "${PRESS_REFRESH} is what this sign-in brings; it is not there yet"),
        ("client_id_param: client_key", "client_id_param: state", "the sign-in sets this name to something else"),
        ("client_auth: post", "client_auth: header", "connect.client_auth: expected one of basic, post, json"),
        ("[read, ", '["read write", ', "connect.scopes[0]: expected one scope as it is, without blanks"),
        ("[read, ", '["${PRESS_DESK}", ', "connect.scopes[0]: expected one scope as it is"),
        ('separator: ","', 'separator: ""', "connect.scope_separator: expected what stands between two scopes"),
        ("issuer: https://", "issuer: http://", "connect.issuer: expected the https address by which the provider"),
        ("com/oauth\n", "com/oauth?x=1\n", "connect.issuer: expected the https address"),
        ("op: eq, value: 40001", "op: is, value: 40001", "connect.expired.any[1]"),
        ("token:/desk/0/id", "desk", "expected callback:NAME, a parameter of the callback, or token:/POINTER"),
        ("token:/desk/0/id", "callback:state", "`state` is the sign-in's own, and good for one use"),
        ("token:/desk/0/id", "callback:code", "`code` is the sign-in's own"),
        ("token:/desk/0/id", "token:/a~2", "connect.returns.PRESS_DESK:"),
        ("{ PRESS_DESK:", "{ PRESS_DUSK:", "PRESS_DUSK is not declared in auth; did you mean 'PRESS_DESK'?"),
        ("authorize_params:", "authorise_params:", "unknown field; did you mean 'authorize_params'?"),
        ("refresh_params:", "params: { a: b }\n  refresh_params:", "`authorize_params` is there too, and means this"),
        ("  client_secret:", "  pkce: false\n  was:", "without PKCE and without `client_secret`, a stolen code"),
        ("  client_secret:", "  was:", "says how the secret is sent, and there is no `client_secret`"),
        ("client_auth: post", "client_auth: json\n  was: 1", "unknown field"),
        ("  expired:", "  token: /x\n  expired:", "connect.token: unknown field"),
    ],
)  # fmt: skip
def test_a_sign_in_by_code_that_cannot_work_is_a_fault(old, new, expected):
    assert any(expected in one for one in faults(changed(OAUTH2, old, new)))


def test_a_secret_cannot_be_sent_as_json_in_a_form():
    text = OAUTH2.replace("client_auth: post", "client_auth: json").replace("token_body: json", "token_body: form")

    assert "`client_auth: json` writes the body as JSON; leave this out" in fault(whole(text))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("    client_id_env: PRESS_OWN_ID\n", "", "connect.register.client_id_env: missing"),
        ("PRESS_OWN_ID", f"P{'A' * 51}", "connect.register.client_id_env: expected at most 51 characters"),
        ("PRESS_OWN_SECRET", "PRESS_OWN_ID", "PRESS_OWN_ID is the application's secret here and the application's id"),
        ("PRESS_OWN_SECRET", "PRESS_TOKEN", "is the application's secret here and the access token in line 8"),
        ('url: "${PRESS_SITE}/apps"', "url: https://evil.test/apps", "evil.test is not in hosts"),
        ("    client_id_env", "    body: { name: x }\n    client_id_env", "put {{redirect_uri}} into it"),
        ("    client_id_env", '    body: { u: "{{redirect_uri}}{{x}}" }\n    client_id_env', "nothing fills {{x}}"),
        ("    client_id_env", "    client_id: id\n    client_id_env", "connect.register.client_id:"),
        ("    client_secret_env: PRESS_OWN_SECRET", "    client_secret: /s", "name the key that keeps it with"),
        ("  register:", '  client_id: "${PRESS_ID}"\n  register:', "write ${PRESS_OWN_ID}, or leave this out"),
    ],
)  # fmt: skip
def test_a_registration_that_cannot_work_is_a_fault(old, new, expected):
    assert any(expected in one for one in faults(changed(REGISTER, old, new)))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("  token: /jwt\n", "", "connect.token: missing"),
        ("token: /jwt", "token: jwt", "connect.token:"),
        ("expires: /exp", "expires: exp", "connect.expires:"),
        ("  expires: /exp\n", "", "connect.expires_unit: `expires_unit` needs `expires` beside it"),
        ("expires_unit: unix", "expires_unit: days", "connect.expires_unit: expected one of seconds, milliseconds,"),
        ("  refresh: header:X-Refresh\n", "", "connect.refresh_env: `refresh_env` needs `refresh` beside it"),
        ("  refresh_env: PRESS_REFRESH\n", "", "connect.refresh: `refresh` needs `refresh_env` beside it"),
        ("https://api.example.com/session\n", "https://evil.test/session\n", "evil.test is not in hosts"),
        ("${PRESS_SECRET}", "${PRESS_TOKEN}", "${PRESS_TOKEN} is what this sign-in brings; it is not there yet"),
        ("${PRESS_SECRET}", "{{password}}", "nothing fills {{password}}"),
        ("{ PRESS_DESK: /desk }", "{ PRESS_DUSK: /desk }", "PRESS_DUSK is not declared in auth"),
        ("  flow: session\n", "  flow: session\n  scopes: [a]\n", "connect.scopes: unknown field"),
    ],
)  # fmt: skip
def test_a_session_that_cannot_work_is_a_fault(old, new, expected):
    assert any(expected in one for one in faults(changed(SESSION, old, new)))


def listed(*connects: str) -> str:
    """Write ways one after the other."""
    ways = [one.partition("connect:\n")[2].strip().replace("\n", "\n  ") for one in connects]
    return whole("connect:\n" + "".join(f"  - {way}\n" for way in ways))


def test_several_ways_may_bring_one_token():
    manifest = loaded(listed(OAUTH2, DEVICE, MACHINE.replace("PRESS_OWN", "PRESS_REST")))

    assert [way.flow for way in manifest.ways] == ["oauth2", "device", "client_credentials"]
    assert manifest.kept_keys == (
        "PRESS_TOKEN", "PRESS_TOKEN_EXPIRES_AT", "PRESS_TOKEN_MISSING_SCOPES", "PRESS_REFRESH", "PRESS_REST",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (DEVICE.replace("PRESS_REFRESH", "PRESS_DESK"), "PRESS_DESK is the refresh token here and a value that is"),
        (DEVICE.replace("PRESS_REFRESH", "PRESS_OTHER"), "connect[1].refresh_env: the way that writes PRESS_TOKEN"),
        (DEVICE.replace("  refresh_env: PRESS_REFRESH\n", ""), "has PRESS_REFRESH; expected the same here"),
        (MACHINE.replace("PRESS_OWN", "PRESS_REFRESH"), "PRESS_REFRESH is the access token here and the refresh token"),
        (MACHINE.replace("PRESS_OWN", "PRESS_TOKEN_EXPIRES_AT"), "is the access token here and when a token runs out"),
        (DEVICE.replace("with a code", "with the press"), "connect[1].label: named twice: the first way of this name"),
    ],
)  # fmt: skip
def test_two_ways_that_write_a_key_differently_are_a_fault(other, expected):
    assert any(expected in one for one in faults(listed(OAUTH2, other)))


def test_a_token_that_is_never_stored_is_not_required():
    wrong = whole(MACHINE.replace("PRESS_OWN", "PRESS_TOKEN"))

    assert "auth[1]: this token is never stored, but made anew; say `optional: true`" in fault(wrong)


def test_a_field_of_a_sign_in_outside_of_it_is_told_its_place():
    assert "token_url: unknown field here; it belongs in `connect`" in fault(whole("token_url: https://x.test/\n"))

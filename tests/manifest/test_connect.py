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
        ("flow: redirect", "flow: redirct", "expected redirect; did you mean 'redirect'?"),
        ("flow: redirect", "flow: oauth2", "signs in by redirect only; oauth2 comes later"),
        ("flow: redirect", "flow: cloud", "signs in by redirect only; cloud comes later"),
        ("flow: redirect", "flow: service_account", "signs in by redirect only; service_account comes later"),
        ("returns: { PRESS_SITE: site_url, PRESS_TOKEN: password }", "returns: {}", "found none; expected at least 1"),
        ("site_url", '"site url"', "expected the name of a query parameter"),
    ],
)  # fmt: skip
def test_a_sign_in_that_cannot_work_is_a_fault_at_install(old, new, expected):
    assert expected in fault(changed(old, new))


def test_several_ways_to_sign_in_come_later():
    one_in_a_list = "connect:\n  - " + CONNECT.removeprefix("connect:\n").strip().replace("\n", "\n  ") + "\n"
    two = one_in_a_list + "  - { flow: cloud, provider: google, scopes: [x], token_env: PRESS_TOKEN }\n"

    assert fault(one_in_a_list + PRESS) == (
        "2:3 connect: this version of Habilis offers one way to sign in; write it without a list"
    )
    assert [one.partition(": ")[0] for one in faults(two + PRESS)] == ["2:3 connect", "10:13 connect[1].flow"]

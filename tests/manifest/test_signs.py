import pytest
from tests.manifest.samples import PRESS, changed, fault, faults, loaded

URL = "url: https://api.example.com/articles"


def signed(sign: str) -> str:
    return changed(URL, f"{URL}\n      sign: {{ {sign} }}")


def values(sign: str) -> dict:
    found = loaded(signed(sign)).tools[1].steps[0].request.sign
    assert found is not None
    return {"scheme": found.scheme, **{name: value.source for name, value in found.values.items()}}


def test_a_signature_is_carried_as_it_is_written():
    assert values('scheme: hmac, key: "${PRESS_TOKEN}", query: sig') == {
        "scheme": "hmac",
        "key": "${PRESS_TOKEN}",
        "query": "sig",
    }
    assert values(
        'scheme: jwt, key: "${PRESS_TOKEN}", key_encoding: "id:hex", claims: { aud: /a/ }, lifetime_s: 60'
    ) == {
        "scheme": "jwt",
        "key": "${PRESS_TOKEN}",
        "key_encoding": "id:hex",
        "claims": {"aud": "/a/"},
        "lifetime_s": 60,
    }
    assert values('scheme: oauth1, consumer_key: a, consumer_secret: "${PRESS_TOKEN}"') == {
        "scheme": "oauth1",
        "consumer_key": "a",
        "consumer_secret": "${PRESS_TOKEN}",
    }


def test_what_is_signed_may_be_put_together_of_the_request():
    texts = 'text: "v0:{{method}}:{{path}}:{{body}}", value: "v0={{signature}}"'

    found = values(f'scheme: hmac, key: "${{PRESS_TOKEN}}", header: X, {texts}')

    assert (found["text"], found["value"]) == ("v0:{{method}}:{{path}}:{{body}}", "v0={{signature}}")


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        ("scheme: sigv4", "expected one of hmac, oauth1, jwt"),
        ("key: a", "sign.scheme: missing"),
        ("scheme: hmac, header: X", "sign.key: `scheme: hmac` needs `key`"),
        ("scheme: hmac, key: a", "sign.header: `scheme: hmac` needs `header`, or `query`"),
        ("scheme: hmac, key: a, header: X, query: x", "sign.query: `header` is there too; write one of the two"),
        ("scheme: oauth1, consumer_key: a, consumer_secret: b, alg: RSA-SHA1", "needs `key`, a private key as PEM"),
        ("scheme: oauth1, consumer_key: a", "`scheme: oauth1` needs `consumer_secret`"),
        ("scheme: jwt", "`scheme: jwt` needs `key`"),
        ("scheme: jwt, key: a, token: b", "`scheme: jwt` takes no `token`; it takes key, key_encoding, alg"),
        ("scheme: hmac, key: a, header: X, alg: md5", "expected one of sha1, sha256, sha384, sha512"),
        ("scheme: jwt, key: a, alg: none", "sign.alg: expected one of ES256"),
        ('scheme: hmac, key: "${NOPE}", header: X', "${NOPE} is not declared in auth"),
        ('scheme: hmac, key: a, header: X, value: "{{token}}"', "nothing fills {{token}}"),
        ("scheme: jwt, key: a, value: Ghost", "expected {{token}} somewhere in it"),
        ('scheme: jwt, key: a, claims: { sub: "{{who}}" }', "nothing fills {{who}}"),
        ("scheme: jwt, key: a, lifetime_s: 0", "expected 1 or more"),
        ('scheme: jwt, key: a, header: "X Y"', "expected the literal name of a header"),
        ("scheme: jwt, key: a, header: Host", "sign.header: Habilis sets the header Host itself; name another one"),
        ("scheme: hmac, key: a, header: proxy-authorization", "sets the header proxy-authorization itself"),
    ],
)
def test_a_signature_that_cannot_be_made_is_a_fault_at_install(sign, expected):
    assert any(expected in one for one in faults(signed(sign))), faults(signed(sign))


def test_a_signature_sets_its_header_alone():
    text = PRESS.replace(URL, f"{URL}\n      headers: {{ authorization: x }}\n      sign: {{ scheme: jwt, key: a }}")

    assert "headers.authorization: `sign` sets this header; leave it out here" in fault(text)


def test_a_header_that_a_request_leaves_out_is_free_for_its_signature():
    text = PRESS.replace(URL, f"{URL}\n      headers: {{ Authorization: null }}\n      sign: {{ scheme: jwt, key: a }}")

    assert loaded(text).tools[1].steps[0].request.headers == ()


def test_a_signature_in_the_address_leaves_the_header_to_others():
    loaded(
        PRESS.replace(
            URL, f"{URL}\n      headers: {{ Authorization: x }}\n      sign: {{ scheme: jwt, key: a, query: t }}"
        )
    )


def test_a_signature_takes_the_place_of_the_sign_in_of_the_defaults():
    text = "defaults: { headers: { Authorization: x, X-A: y } }\n" + signed("scheme: jwt, key: a")

    request = loaded(text).tools[1].steps[0].request

    assert [name for name, _ in request.headers] == ["X-A"]

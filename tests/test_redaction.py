import json
import threading
import time
from base64 import b64encode, urlsafe_b64encode
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from habilis.redaction import SHORTEST_SECRET, Ledger, clean, current, recording

TOKEN = "sk-a+b/\"é<x>&'%41\\d 😀"
PEM = "\n".join([
    "-----BEGIN PRIVATE KEY-----",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
    "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu",
    "Nq8e0Q==",
    "-----END PRIVATE KEY-----",
])  # fmt: skip


@pytest.fixture
def ledger():
    """Return a ledger that holds TOKEN."""
    made = Ledger()
    made.add("TOKEN", TOKEN)
    return made


def every_other_escaped(text: str) -> str:
    return "".join(f"\\u{ord(one):04x}" if at % 2 else one for at, one in enumerate(text))


ESCAPED = {
    "as it is": str,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON beyond ASCII": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON with slashes": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON within JSON": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "needless JSON escapes": lambda text: "".join(
        f"\\u{unit:04X}" for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    ),
    "percent": lambda text: quote(text, safe=""),
    "percent with slashes": quote,
    "percent in lower case": lambda text: "".join(f"%{one:02x}" for one in text.encode()),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "form": quote_plus,
    "HTML": escape,
    "HTML without quotes": lambda text: escape(text, quote=False),
    "HTML by number": lambda text: "".join(f"&#{ord(one)};" for one in text),
    "HTML by hex number": lambda text: "".join(f"&#x{ord(one):X};" for one in text),
    "HTML within JSON": lambda text: json.dumps(escape(text))[1:-1],
    "base64": lambda text: b64encode(text.encode()).decode(),
    "base64 without padding": lambda text: b64encode(text.encode()).decode().rstrip("="),
    "base64 for URLs": lambda text: urlsafe_b64encode(text.encode()).decode(),
    "base64 in a form": lambda text: quote(b64encode(text.encode()).decode(), safe=""),
}


@pytest.mark.parametrize("form", ESCAPED)
def test_an_echoed_key_is_masked_in_every_form(form, ledger):
    echo = f"no such user: {ESCAPED[form](TOKEN)}, sorry"

    assert ledger.clean(echo) == "no such user: [redacted TOKEN], sorry"


def test_needless_escapes_of_some_characters_hide_nothing():
    ledger = Ledger()
    ledger.add("TOKEN", "sk-live-abcdef")

    assert ledger.clean(every_other_escaped("sk-live-abcdef")) == "[redacted TOKEN]"
    assert ledger.clean(r"\u0073k-live%2Dabcdef") == "[redacted TOKEN]"


def test_keys_of_an_answer_are_masked_and_its_shape_stays(ledger):
    answer = {"error": {TOKEN: [1, None, True, f"bad {TOKEN}"]}, "ok": ("x", TOKEN)}

    assert ledger.clean(answer) == {
        "error": {"[redacted TOKEN]": [1, None, True, "bad [redacted TOKEN]"]},
        "ok": ("x", "[redacted TOKEN]"),
    }


def test_masked_names_stay_different():
    ledger = Ledger()
    ledger.add("TOKEN", "first-secret")
    ledger.add("TOKEN", "second-secret")

    cleaned = ledger.clean({"first-secret": 1, "second-secret": 2, "[redacted TOKEN] 2": 3})

    assert cleaned == {"[redacted TOKEN]": 1, "[redacted TOKEN] 3": 2, "[redacted TOKEN] 2": 3}


def test_json_text_stays_json():
    ledger = Ledger()
    ledger.add("ID", "123456789")
    ledger.add("TOKEN", 'x","y-secret')

    for body in ('{"a": 123456789}', '["a 123456789", 0]', json.dumps({"t": 'x","y-secret'}), '["x","y-secret"]'):
        json.loads(ledger.clean(body))
    assert json.loads(ledger.clean('{"a": 123456789}')) == {"a": "[redacted ID]"}


def test_a_number_that_is_a_key_is_masked():
    ledger = Ledger()
    ledger.add("ID", "123456789")

    assert ledger.clean({"id": 123456789, "n": 12345678, "f": 0.5, "b": True}) == {
        "id": "[redacted ID]",
        "n": 12345678,
        "f": 0.5,
        "b": True,
    }


def test_a_page_of_html_shows_the_mask(ledger):
    page = f"<p title='{escape(TOKEN)}'>It&#8217;s wrong: {escape(TOKEN)}</p>"

    assert ledger.clean(page) == "<p title='[redacted TOKEN]'>It&#8217;s wrong: [redacted TOKEN]</p>"


def test_user_and_password_are_masked_together_and_apart():
    ledger = Ledger()
    ledger.add_pair("WP_APP_PASSWORD", "ann", "abcd EFGH 1234")
    basic = b64encode(b"ann:abcd EFGH 1234").decode()

    assert ledger.clean(f"Basic {basic}") == "Basic [redacted WP_APP_PASSWORD]"
    assert ledger.clean("sent abcd EFGH 1234") == "sent [redacted WP_APP_PASSWORD]"
    assert ledger.clean("p=abcd+EFGH+1234&u=ann") == "p=[redacted WP_APP_PASSWORD]&u=ann"


def test_the_password_is_masked_in_the_base64_of_any_user():
    ledger = Ledger()
    ledger.add("PASSWORD", "correct-horse")

    for user in ("a", "ab", "abc", "abcd"):
        encoded = b64encode(f"{user}:correct-horse".encode()).decode()
        assert "[redacted PASSWORD]" in ledger.clean(encoded)


def test_a_short_password_is_masked_only_within_its_pair():
    ledger = Ledger()
    ledger.add_pair("PASSWORD", "administrator", "1234")

    assert ledger.clean(b64encode(b"administrator:1234").decode()) == "[redacted PASSWORD]"
    assert ledger.clean("it is 1234 now") == "it is 1234 now"


@pytest.mark.parametrize("value", ["a", "1234", "true", "12345", "", "  ab \n"])
def test_short_values_are_left_alone(value):
    ledger = Ledger()
    ledger.add("SHORT", value)
    answer = {"status": "a 1234 true 12345 ab", value: True}

    assert ledger.clean(answer) is answer


def test_status_is_long_enough_to_be_masked():
    ledger = Ledger()
    ledger.add("WORD", "status")

    assert ledger.clean("the status") == "the [redacted WORD]"


def test_each_line_of_a_private_key_is_masked():
    ledger = Ledger()
    ledger.add("KEY_FILE", PEM)
    lines = PEM.splitlines()

    for line in lines[1:-1]:
        assert ledger.clean(f"cannot parse {line!r} here") == "cannot parse '[redacted KEY_FILE]' here"
    assert ledger.clean(json.dumps({"key": PEM})) == '{"key": "[redacted KEY_FILE]"}'
    assert ledger.clean(lines[0]) == lines[0]


def test_lines_of_a_key_inside_a_json_file_are_masked():
    ledger = Ledger()
    ledger.add("KEY_FILE", json.dumps({"type": "service_account", "private_key": PEM}))

    assert ledger.clean(f"bad line {PEM.splitlines()[2]}") == "bad line [redacted KEY_FILE]"


def test_windows_line_ends_of_a_key_do_not_matter():
    ledger = Ledger()
    ledger.add("KEY_FILE", PEM.replace("\n", "\r\n"))

    assert "MzEfYyji" not in ledger.clean(PEM)


def test_the_beginning_of_a_key_before_the_dots_of_a_cut_text_is_masked(ledger):
    for length in range(SHORTEST_SECRET, len(TOKEN)):
        cut = f"the answer was {TOKEN[:length]}…"
        assert ledger.clean({"message": cut}) == {"message": "the answer was [redacted TOKEN]…"}
    assert ledger.clean("it goes on and on…") == "it goes on and on…"


def test_overlapping_keys_leave_nothing_between_them():
    ledger = Ledger()
    ledger.add("A", "abcdefgh")
    ledger.add("B", "efghijkl")

    assert ledger.clean("<abcdefghijkl>") == "<[redacted A]>"


def test_the_longer_of_two_keys_gives_the_mask():
    ledger = Ledger()
    ledger.add("SHORT", "secret-1")
    ledger.add("LONG", "secret-123")

    assert ledger.clean("secret-123 secret-1") == "[redacted LONG] [redacted SHORT]"


def test_a_value_without_keys_is_the_same_value(ledger):
    answer = {"a": ["text % & \\ &amp; %20", {"b": 1.5}], "c": None}

    assert ledger.clean(answer) is answer
    assert Ledger().clean(answer) is answer
    assert ledger.clean(5) == 5
    assert ledger.clean(None) is None


def test_a_ledger_shows_nothing(ledger):
    assert repr(ledger) == "<Ledger of 1 names>"


def test_each_request_has_a_ledger_of_its_own():
    with recording() as outer:
        current().add("OUTER", "outer-secret")
        with recording() as inner:
            current().add("INNER", "inner-secret")
            assert current() is inner
            assert clean("outer-secret inner-secret") == "outer-secret [redacted INNER]"
        assert current() is outer
        assert clean("outer-secret inner-secret") == "[redacted OUTER] inner-secret"


def test_requests_in_other_threads_do_not_see_each_other():
    seen = []

    def other():
        with recording():
            seen.append(clean("outer-secret"))

    with recording():
        current().add("OUTER", "outer-secret")
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    assert seen == ["outer-secret"]


def test_a_ledger_ends_with_its_request_even_when_it_fails():
    with recording() as outer:
        with pytest.raises(ValueError, match="x"), recording():
            raise ValueError("x")
        assert current() is outer


def test_a_long_text_of_escapes_is_cleaned_in_bounded_time(ledger):
    text = "%2541&amp;amp;\\\\u0041" * 20_000
    began = time.process_time()

    ledger.clean(text)

    assert time.process_time() - began < 5


secrets = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=SHORTEST_SECRET, max_size=24).map(str.strip)
plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)


@given(secrets, st.sampled_from(sorted(ESCAPED)), plain, plain)
def test_no_secret_survives_in_any_escaped_form(secret, form, before, after):
    assume(len(secret) >= SHORTEST_SECRET)
    ledger = Ledger()
    ledger.add("KEY", secret)
    written = ESCAPED[form](secret)
    # The text around may not continue an escape, nor be the secret once more.
    echo = f"{before} {written} {after}"
    assume(written not in "[redacted KEY]")

    cleaned = ledger.clean(echo)

    assert "[redacted KEY]" in cleaned
    assert written not in cleaned.replace("[redacted KEY]", "")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain, inner, max_size=3),
    max_leaves=8,
)


@given(secrets, values, st.booleans())
def test_json_text_with_a_key_in_it_stays_json(secret, value, ascii_only):
    assume(len(secret) >= SHORTEST_SECRET)
    ledger = Ledger()
    ledger.add("KEY", secret)
    document = {"echo": f"bad {secret}", secret: value, "list": [value, secret]}

    cleaned = json.loads(ledger.clean(json.dumps(document, ensure_ascii=ascii_only)))

    assert len(cleaned) == len(document)
    assert json.loads(json.dumps(ledger.clean(document))).keys() == cleaned.keys()


@given(values, st.lists(secrets, max_size=3))
def test_cleaning_twice_changes_nothing_more(value, held):
    assume(all(secret not in "[redacted KEY] 23456789" for secret in held))
    ledger = Ledger()
    for secret in held:
        ledger.add("KEY", secret)

    once = ledger.clean([value, *held])

    assert ledger.clean(once) == once

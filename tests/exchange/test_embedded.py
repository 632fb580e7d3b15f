import base64

import pytest

from habilis.errors import UpstreamError
from habilis.exchange.embedded import decoded

DATA = bytes(range(256)) + b"\xfb\xff\xfe"
TEXT = base64.b64encode(DATA).decode()
LINES = "\r\n".join(TEXT[at : at + 76] for at in range(0, len(TEXT), 76))


@pytest.mark.parametrize(
    ("text", "mime"),
    [
        (TEXT, ""),
        (LINES, ""),
        (TEXT.rstrip("="), ""),
        (base64.urlsafe_b64encode(DATA).decode(), ""),
        (f"data:image/png;base64,{TEXT}", "image/png"),
        (f"DATA:Image/PNG; charset=binary ;BASE64,{LINES}", "image/png"),
        (f"data:;base64,{TEXT}", ""),
        ("data:image/png;base64," + TEXT.replace("+", "%2B").replace("=", "%3D"), "image/png"),
    ],
)
def test_bytes_are_read_from_base64_in_all_its_variants(text, mime):
    assert decoded(text, where="") == (DATA, mime)


@pytest.mark.parametrize(
    ("text", "data", "mime"),
    [
        ("data:image/svg+xml,%3Csvg/%3E", b"<svg/>", "image/svg+xml"),
        ("data:image/svg+xml;charset=utf-8,<svg/>", b"<svg/>", "image/svg+xml"),
        ("data:,a,b", b"a,b", ""),
    ],
)
def test_bytes_are_read_from_a_data_address_without_base64(text, data, mime):
    assert decoded(text, where="") == (data, mime)


@pytest.mark.parametrize(
    "text",
    [
        "https://fal.media/a.png",
        "not base64!",
        "A",
        "QUJ\u00e9",
        "====QUJD",
        "data:image/png;base64",
        "data:;base64,%zz",
        "data:x",
    ],
)
def test_a_text_that_holds_no_bytes_is_refused_without_being_quoted(text):
    with pytest.raises(UpstreamError) as caught:
        decoded(text, where="tool 'image' (file)")

    assert caught.value.where == "tool 'image' (file)"
    assert text not in f"{caught.value} {caught.value.__context__!r}"

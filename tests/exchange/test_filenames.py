import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.exchange.filenames import ending_of, name_in_url, numbered, safe_name


@pytest.mark.parametrize(
    ("suggested", "mime", "name"),
    [
        ("Sunset", "image/jpeg", "Sunset.jpg"),
        ("Sunset.PNG", "image/jpeg", "Sunset.jpg"),
        ("photo.jpeg", "image/jpeg", "photo.jpg"),
        ("v1.2 plan", "application/pdf", "v1.2 plan.pdf"),
        ("çiçek ş", "image/png", "çiçek ş.png"),
        ("e\u0301te\u0301", "image/png", "\u00e9t\u00e9.png"),
        ("../../etc/passwd", "image/png", "etc-passwd.png"),
        ("C:\\Windows\\x", "image/png", "C-Windows-x.png"),
        ('a<b>|c?*"d"', "image/png", "a-b-c-d.png"),
        ("a\r\nb\tc\0d\x1b[2J", "image/png", "a b cd[2J.png"),
        ("\u202egnp.exe\u200b", "image/png", "gnp.exe.png"),
        (".htaccess", "image/png", "htaccess.png"),
        ("-rf", "image/png", "rf.png"),
        (" name . ", "image/png", "name.png"),
        ("CON", "image/png", "_CON.png"),
        ("aux.tar", "image/png", "_aux.tar.png"),
        ("", "image/png", "file.png"),
        ("...", "audio/mpeg", "file.mp3"),
        ("\ud800", "image/png", "file.png"),
        ("🙂", "image/webp", "🙂.webp"),
    ],
)
def test_a_name_is_plain_and_ends_as_its_type_does(suggested, mime, name):
    assert safe_name(suggested, mime) == name


def test_a_long_name_is_cut_between_characters():
    name = safe_name("é" * 500, "image/png")

    assert name == "é" * 60 + ".png"


@given(st.text(st.characters()), st.sampled_from(["image/png", "application/x-unknown", "../../x", ""]))
def test_no_text_makes_a_name_that_leaves_its_folder(suggested, mime):
    name = safe_name(suggested, mime)

    assert name.isprintable()
    assert not set(name) & set('/\\:*?"<>|')
    assert name[0] not in ".- "
    assert name[-1] not in ". "
    assert len(name.encode()) < 140


@pytest.mark.parametrize(
    ("mime", "ending"),
    [("image/jpeg", ".jpg"), ("audio/mpeg", ".mp3"), ("image/bmp", ".bmp"), ("image/x-icon", ".icon"),
     ("application/octet-stream", ".bin"), ("application/x-sh", ".bin"), ("text/x-python", ".bin"), ("", ".bin"),
     ("image/../x", ".bin")],
)  # fmt: skip
def test_an_ending_is_that_of_the_type(mime, ending):
    assert ending_of(mime) == ending


def test_names_that_are_the_same_in_any_case_get_numbers():
    assert numbered(["a.png", "A.png", "a-2.png", "b.png", "a.png"]) == [
        "a.png", "A-2.png", "a-2-2.png", "b.png", "a-3.png",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://fal.media/files/kangaroo/abc.jpeg", "abc.jpeg"),
        ("https://fal.media/a%20b.png?sig=x/y.exe#z", "a b.png"),
        ("https://fal.media/", ""),
        ("https://fal.media", ""),
        ("", ""),
    ],
)
def test_an_address_ends_in_a_name(url, name):
    assert name_in_url(url) == name

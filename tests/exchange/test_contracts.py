import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.errors import ArgsInvalid, MailInvalid
from habilis.exchange.contracts import normalise_contract


def shape(**arguments):
    """Size, width, height, orientation and aspect of a picture asked for so."""
    made = normalise_contract("image", {"prompt": "a cat", **arguments})
    return tuple(made.get(name) for name in ("size", "width", "height", "orientation", "aspect"))


def refusal(contract="image", error=ArgsInvalid, **arguments):
    with pytest.raises(error) as caught:
        normalise_contract(contract, {"prompt": "a cat", **arguments})
    return caught.value


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"size": "square"}, ("square", 1024, 1024, "square", "1:1")),
        ({"size": "landscape"}, ("landscape", 1600, 900, "landscape", "16:9")),
        ({"size": "portrait"}, ("portrait", 900, 1600, "portrait", "9:16")),
        ({"size": "Story "}, ("story", 1080, 1920, "portrait", "9:16")),
        ({"size": "og"}, ("og", 1200, 630, "landscape", "40:21")),
        ({"size": "1024x768"}, ("1024x768", 1024, 768, "landscape", "4:3")),
        ({"size": "768 \u00d7 1024"}, ("768x1024", 768, 1024, "portrait", "3:4")),
        ({"width": 1200, "height": 627}, ("1200x627", 1200, 627, "landscape", "400:209")),
        ({"orientation": "landscape"}, ("1600x900", 1600, 900, "landscape", "16:9")),
        ({"orientation": "portrait"}, ("900x1600", 900, 1600, "portrait", "9:16")),
        ({"orientation": "square"}, ("1024x1024", 1024, 1024, "square", "1:1")),
        ({"aspect": "16:9"}, ("1600x900", 1600, 900, "landscape", "16:9")),
        ({"aspect": "32/18"}, ("1600x900", 1600, 900, "landscape", "16:9")),
        ({"aspect": "4:3"}, ("1536x1152", 1536, 1152, "landscape", "4:3")),
        ({"aspect": "2:3"}, ("1024x1536", 1024, 1536, "portrait", "2:3")),
        ({"aspect": "21:9"}, ("1536x656", 1536, 656, "landscape", "7:3")),
        ({"width": 800}, ("800x450", 800, 450, "landscape", "16:9")),
        ({"height": 450}, ("800x450", 800, 450, "landscape", "16:9")),
        ({"width": 800, "aspect": "1:1"}, ("800x800", 800, 800, "square", "1:1")),
        ({"width": 900, "orientation": "portrait"}, ("900x1600", 900, 1600, "portrait", "9:16")),
        ({"width": 512, "size": "square"}, ("square", 512, 512, "square", "1:1")),
        ({"size": "landscape", "width": 1920, "height": 1080}, ("landscape", 1920, 1080, "landscape", "16:9")),
        ({"size": "1024x768", "width": 1920, "height": 1080}, ("1920x1080", 1920, 1080, "landscape", "16:9")),
        ({"size": "1366x768", "aspect": "16:9"}, ("1366x768", 1366, 768, "landscape", "16:9")),
    ],
)
def test_a_shape_is_completed_however_it_is_said(arguments, expected):
    assert shape(**arguments) == expected


@pytest.mark.parametrize("arguments", [{}, {"size": None, "width": None}])
def test_where_no_shape_is_given_the_manifests_own_defaults_hold(arguments):
    assert normalise_contract("image", {"prompt": "a cat", **arguments}) == {"prompt": "a cat"}


def test_music_has_no_shape():
    given = {"prompt": "a waltz", "size": "odd", "title": "Waltz"}

    assert normalise_contract("music", given) == given


def test_a_video_has_the_shapes_of_a_picture():
    assert normalise_contract("video", {"prompt": "a cat", "size": "story"})["height"] == 1920


def test_the_kinds_of_channels_are_sizes_too_and_take_no_name_of_the_contracts_own():
    sizes = {"linkedin": (1200, 627), "square": (1, 1)}

    assert normalise_contract("image", {"size": "linkedin"}, sizes)["height"] == 627
    assert normalise_contract("image", {"size": "square"}, sizes)["height"] == 1024


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": "huge"}, "size: expected a size"),
        ({"size": "1024x"}, "size: expected a size"),
        ({"size": "0x0"}, "size: expected a size"),
        ({"size": "-5x5"}, "size: expected a size"),
        ({"size": "1e3x5"}, "size: expected a size"),
        ({"size": ""}, "size: expected a size"),
        ({"size": 1024}, "size: expected a size"),
        ({"size": "99999x99999"}, "width: 99999 pixels; expected 16 to 8192"),
        ({"width": 0, "height": 5}, "width: 0 pixels; expected 16 to 8192"),
        ({"width": -1}, "width: -1 pixels; expected 16 to 8192"),
        ({"width": 1024, "height": 10_000}, "height: 10000 pixels; expected 16 to 8192"),
        ({"width": 8}, "width: 8 pixels; expected 16 to 8192"),
        ({"width": "wide"}, "width: expected a whole number of pixels"),
        ({"height": True}, "height: expected a whole number of pixels"),
        ({"height": 5.5}, "height: expected a whole number of pixels"),
        ({"width": 8000, "height": 100}, "8000x100: one side is more than 20 times the other"),
        ({"aspect": "wide"}, "aspect: expected a ratio"),
        ({"aspect": "0:9"}, "aspect: expected a ratio"),
        ({"aspect": 1.77}, "aspect: expected a ratio"),
        ({"aspect": "100:1"}, "1536x16: one side is more than 20 times the other"),
        ({"orientation": "tall"}, "orientation: expected landscape, portrait or square"),
        ({"size": "square", "orientation": "portrait"}, "orientation: 1024x1024 is square"),
        ({"size": "1024x768", "orientation": "portrait"}, "orientation: 1024x768 is landscape"),
        ({"size": "square", "aspect": "16:9"}, "aspect: 1024x1024 is not 16:9"),
        ({"prompt": " \n"}, "prompt: expected words, got none"),
    ],
)
def test_a_shape_that_is_none_is_refused_in_words_to_act_on(arguments, message):
    assert refusal(**arguments).message == message


def test_the_sizes_there_are_are_told():
    error = refusal(size="huge")

    assert error.hint == "write it as 1600x900, or name one of square, landscape, portrait, og, story"


@given(st.integers(1, 9999), st.integers(1, 9999))
def test_any_aspect_gives_sides_that_models_draw_or_is_refused(across, down):
    try:
        _, width, height, _, _ = shape(aspect=f"{across}:{down}")
    except ArgsInvalid:
        assert max(across, down) / min(across, down) > 19
        return

    assert 16 <= min(width, height) <= max(width, height) <= 1920
    assert (width % 8, height % 8) == (0, 0) or (width, height) in {(1600, 900), (900, 1600), (1200, 630)}


MAIL = {"to": "ann@example.com", "title": "Hello", "text": "Hi *Ann*"}


def test_a_mail_gets_its_subject_from_its_title_and_its_html_from_its_text():
    made = normalise_contract("email", MAIL)

    assert made == {**MAIL, "subject": "Hello", "html": "<p>Hi <em>Ann</em></p>\n"}


def test_what_a_mail_says_itself_is_kept():
    given = {**MAIL, "subject": " News ", "html": "<b>Hi</b>"}

    assert normalise_contract("email", given) == {**given, "subject": "News"}


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("ann@example.com", "ann@example.com"),
        (["ann@example.com"], "ann@example.com"),
        (["ann@example.com", "Bob <bob@example.com>"], ["ann@example.com", "Bob <bob@example.com>"]),
    ],
)
def test_one_address_is_a_text_and_several_are_a_list(to, expected):
    assert normalise_contract("email", {**MAIL, "to": to})["to"] == expected


@pytest.mark.parametrize(
    "to", ["ann", "ann@example.com\r\nBcc: x@example.com", ["ann@example.com", "x"], "a@b.com, c@d.com"]
)
def test_what_is_no_address_is_refused(to):
    assert refusal("email", MailInvalid, **{**MAIL, "to": to}).message.startswith("to")


def test_a_mail_to_nobody_is_refused():
    assert refusal("email", MailInvalid, **{**MAIL, "to": []}).message == "to: a mail goes to one address at least"


def test_a_subject_of_several_lines_is_refused():
    assert refusal("email", MailInvalid, **{**MAIL, "title": "Hi\nBcc: x@example.com"}).message.startswith(
        "subject: line breaks"
    )

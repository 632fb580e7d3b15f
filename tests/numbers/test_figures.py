from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.numbers.figures import EXACT, NO_NUMBER, exact, plus, read_figure, read_figures, total, written_figure
from habilis.templating import MISSING


@pytest.mark.parametrize(
    ("value", "figure"),
    [
        ("12", "12"),
        ("12.5", "12.5"),
        ("1e3", "1000"),
        ("1.5E-4", "0.00015"),
        ("-3", "-3"),
        (12, "12"),
        (0, "0"),
        (0.1, "0.1"),
        (12.0, "12"),
        (10**30, "1" + "0" * 30),
    ],
)
def test_numbers_and_numeric_text_are_taken_alike(value, figure):
    assert exact(read_figure(value)) == Decimal(figure)


@pytest.mark.parametrize("value", ["", "-", None, MISSING])
def test_no_value_is_none_and_never_zero(value):
    assert read_figure(value) is None


@pytest.mark.parametrize(
    "value",
    [
        " 12 ", "1_000", "\uff11\uff12", "1,234", "12%", "$3", "+1", "1.", ".5", "0x1", "1e", "--1", "12\n", "None",
        "NaN", "Infinity", "-Infinity", "1e400", "9" * 5_000, True, False, float("nan"), float("inf"), 10**400,
        [1], {"value": 1},
    ],
)  # fmt: skip
def test_anything_else_is_no_number(value):
    assert read_figure(value) is NO_NUMBER


@pytest.mark.parametrize(
    ("one", "other", "total"),
    [(0.1, 0.2, 0.3), (1, 2, 3), ("0.1", 0.2, 0.3), (2**53, 0.5, 2**53 + 0.5), (1, "2.50", 3.5)],
)
def test_sums_are_exact_however_the_figures_were_written(one, other, total):
    with localcontext(EXACT):
        assert written_figure(plus(read_figure(one), read_figure(other))) == total


@pytest.mark.parametrize(
    ("figure", "written"),
    [
        ("12", 12),
        ("12.0", 12),
        ("-0", 0),
        ("0.3", 0.3),
        ("3.4500", 3.45),
        ("9007199254740992", 2**53),
        ("1e20", 1e20),
        ("1e400", None),
    ],
)
def test_figures_are_written_as_json_has_them(figure, written):
    found = written_figure(Decimal(figure))

    assert found == written
    assert type(found) is type(written)


@pytest.mark.parametrize(
    ("figure", "written"),
    [(12, 12), (12.0, 12), (-0.0, 0), (0.3, 0.3), (1e20, 1e20), (2**53, 2**53), (2**60, 2.0**60)],
)
def test_numbers_are_written_as_decimals_are(figure, written):
    found = written_figure(read_figure(figure))

    assert found == written
    assert type(found) is type(written)


@pytest.mark.parametrize(
    "values", [[1, 2.5, 3.0, 2**60], [1, "2"], [1, None, MISSING], [1, True], [1.0, float("inf")], []]
)
def test_many_values_are_read_as_one_by_one(values):
    found = read_figures(values)

    assert found == [read_figure(value) for value in values]
    assert [type(figure) for figure in found] == [type(read_figure(value)) for value in values]


@given(st.lists(st.floats(-1e13, 1e13).map(lambda value: round(value, 2)) | st.integers(-100, 100), min_size=1))
def test_many_amounts_are_summed_as_one_by_one(amounts):
    figures = read_figures(amounts)

    with localcontext(EXACT):
        assert exact(total(figures)) == sum(map(exact, figures))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_any_numbers_are_summed_exactly(values):
    with localcontext(EXACT):
        assert exact(total(read_figures(values))) == sum(map(exact, map(read_figure, values)))

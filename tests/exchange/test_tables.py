import csv

import pytest

from habilis.exchange.tables import read_table
from habilis.exchange.unreadable import Unreadable


@pytest.mark.parametrize(
    "text",
    ["name,price\nTea,3.50\nMilk,\n", "name;price\r\nTea;3.50\r\nMilk;\r\n", "name\tprice\rTea\t3.50\rMilk\t\r",
     '\ufeffname,price\nTea,3.50\n\nMilk,""', '"name","price"\n"Tea","3.50"\n"Milk",""'],
)  # fmt: skip
def test_a_table_is_a_list_of_objects_whatever_parts_its_fields_and_ends_its_lines(text):
    assert read_table(text) == [{"name": "Tea", "price": "3.50"}, {"name": "Milk", "price": ""}]


def test_a_quoted_field_keeps_what_would_part_it():
    assert read_table('note,"a;b;c;d"\n"x, ""y""\nz",1\n') == [{"note": 'x, "y"\nz', "a;b;c;d": "1"}]


def test_what_parts_the_fields_is_told_from_the_first_line_alone():
    assert read_table("name;price\na,b,c,d;3,50\n") == [{"name": "a,b,c,d", "price": "3,50"}]


def test_a_table_of_one_column_is_parted_by_commas():
    assert read_table("name\nTea\n") == [{"name": "Tea"}]


def test_tabs_part_the_fields_where_that_is_known():
    assert read_table("a,b\tc\n1,2\t3\n", tabs=True) == [{"a,b": "1,2", "c": "3"}]


def test_a_name_that_stands_twice_loses_no_value():
    assert read_table("price,price,price_2,\n1,2,3,4\n") == [
        {"price": "1", "price_2": "2", "price_2_2": "3", "column_4": "4"}
    ]


def test_a_row_that_is_short_lacks_fields_and_one_that_is_long_loses_none():
    assert read_table("a,b\n1\n1,2,3\n1,2\n") == [
        {"a": "1"}, {"a": "1", "b": "2", "column_3": "3"}, {"a": "1", "b": "2"},
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "\ufeff", "a,b", "a,b\n", "\n"])
def test_a_table_without_rows_is_an_empty_list(text):
    assert read_table(text) == []


@pytest.mark.parametrize("text", ['a,b\n1,"cut off', 'a,b\n1,"x"y\n'])
def test_a_quote_that_does_not_fit_makes_a_table_unreadable(text):
    with pytest.raises(Unreadable, match="a table with a quote that does not fit"):
        read_table(text)


def test_a_field_may_be_longer_than_the_library_takes_by_itself():
    csv.field_size_limit(131_072)

    assert read_table(f"a\n{'x' * 200_000}\n") == [{"a": "x" * 200_000}]


def test_a_table_of_too_many_rows_is_unreadable():
    assert len(read_table("a\n" + "1\n" * 500_000)) == 500_000
    with pytest.raises(Unreadable, match="more than 500,000 rows"):
        read_table("a\n" + "1\n" * 500_001)

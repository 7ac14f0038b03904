"""Columns as people write them, and what can be said of them: spellings of numbers, free text, long numbers, kinds."""

import shlex

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unlabeled.saving import load, save
from unlabeled.tables import Column, Columns, TableEncoder, TableError, find_columns, parse_kinds
from unlabeled.tables.numbers import COMMA, PLAIN, POINT, SPELLINGS, check_spelling, find_spellings, read_numbers
from unlabeled.tables.texts import MOST_FEATURES, TextFeatures

COMPLAINTS = (
    "the parcel never arrived and nobody answers",
    "parcel arrived late, the box was open",
    "i was charged twice on my card",
    "card was charged by a shop i do not know",
    "thank you for the quick answer",
)
TEXTS = [f"{COMPLAINTS[k % 5]} on day {k}" for k in range(60)]


def read(values, spelling):
    return pl.DataFrame({"x": values}).select(read_numbers(pl.col("x"), spelling))["x"].to_list()


def only(values, **options):
    """The one column of a table, as it is found."""
    return find_columns(pl.DataFrame({"x": values}), **options).all[0]


def matrix(frame, **options):
    return find_columns(frame, **options).matrix(frame)[0]


# --- spellings of numbers ---


@pytest.mark.parametrize(
    ("text", "by_point", "by_comma"),
    [
        ("1,234.50", 1234.5, None),
        ("1.234,50", None, 1234.5),
        ("$1,234.50", 1234.5, None),
        ("-€12.10", -12.1, None),
        ("€ -12,10", None, -12.1),
        ("12,10 €", None, 12.1),
        ("US$ 5.20", 5.2, None),
        ("CHF 1'234.50", 1234.5, None),
        ("1 234,5 zł", None, 1234.5),
        ("1\u202f234,5 €", None, 1234.5),
        ("5 EUR", 5, 5),
        ("12 %", 12, 12),
        ("(1,234)", -1234, -1.234),
        ("3,5-", None, -3.5),
        ("\u22123,5", None, -3.5),
        ("1,00,000.5", 100000.5, None),
        ("1.234.567", None, 1234567),
        ("1,234", 1234, 1.234),
        ("0,234", None, 0.234),  # no thousands begin with 0
        ("1,5e3", None, 1500),
        ("1.5", 1.5, None),
        ("4111 1111 1111 1111", None, None),
        ("10.0.0.1", None, None),
        ("12:30", None, None),
        ("1/2", None, None),
        ("10-20", None, None),
        ("a", None, None),
        ("", None, None),
    ],
)
def test_a_number_is_read_as_it_is_written(text, by_point, by_comma):
    assert read([text], POINT) == [by_point]
    assert read([text], COMMA) == [by_comma]


@given(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)))
def test_numbers_survive_the_spellings_of_people(x):
    english = f"{x:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert read([english], POINT) == [x]
    assert read([german], COMMA) == [x]
    assert read([f"{german} €"], COMMA) == [x]
    assert read([repr(x)], PLAIN) == [x]


@pytest.mark.parametrize("spelling", ["{},5", "1.{:03d},50", "$1,{:03d}.50", "{} %", "{} EUR", "-€{}.10", "1'{:03d}.5"])
def test_numbers_as_people_write_them_are_numbers(spelling):
    texts = [spelling.format(3 * k) for k in range(40)]
    column = only(texts)
    assert column.kind == "number"
    values = matrix(pl.DataFrame({"x": texts}))[:, 0]
    np.testing.assert_allclose(np.abs(np.diff(values)), 3)


def test_decimals_of_the_table_a_model_was_fitted_to_are_kept_to():
    columns = find_columns(pl.DataFrame({"x": ["1.234,50", "0,5", "7"]}))
    assert columns.all[0].note == "read with a decimal comma, such as '1.234,50'"
    later, notices = columns.matrix(pl.DataFrame({"x": ["1.234", "1.5", "2,5", "", "NA"]}))
    np.testing.assert_array_equal(later[:, 0], [1234, np.nan, 2.5, np.nan, np.nan])
    assert notices.unreadable == {"x": 1}
    assert notices.examples == {"x": "1.5"}
    typed, _ = columns.matrix(pl.DataFrame({"x": [1.5, None]}))
    np.testing.assert_array_equal(typed[:, 0], [1.5, np.nan])


def test_a_mark_that_may_be_either_is_decided_by_the_other_columns():
    either, comma, point = ["1,234", "5,678", "9,100"], ["0,5", "1,5", "7"], ["$0.5", "$1.5", "$2"]
    with pytest.warns(UserWarning, match=r"'x': '1,234' may have.*decimal point.*--column x=number:1\.234,5"):
        assert only(either).pattern == POINT
    with pytest.warns(UserWarning, match=r"'x'.*decimal comma.*--column x=number:1,234\.5"):
        assert find_columns(pl.DataFrame({"x": either, "y": comma})).all[0].pattern == COMMA
    with pytest.warns(UserWarning, match=r"'x'.*decimal point"):
        assert find_columns(pl.DataFrame({"x": either, "y": point})).all[0].pattern == POINT
    with pytest.warns(UserWarning, match=r"'x'.*decimal point"):  # they disagree
        find_columns(pl.DataFrame({"x": either, "y": comma, "z": point}))


def test_a_decimal_mark_that_is_said_needs_no_warning():
    assert only(["1,234", "5,678"], decimal=",").pattern == COMMA
    assert only(["1,234", "5,678"], decimal=".").pattern == POINT
    assert only(["1.234", "5.678"], decimal=",").pattern == COMMA
    assert only(["1.234", "5.678"], decimal=".").pattern == ""
    assert only(["0.5", "5.678"], decimal=",").pattern == ""  # it can only be a decimal point
    assert only(["1.234", "5.678"]).pattern == ""  # what computers write is no guess


def test_points_of_thousands_beside_decimal_commas():
    frame = pl.DataFrame({"x": ["1.234", "5.678"], "y": ["0,5", "1,5"], "whole": ["1", "2"]})
    with pytest.warns(UserWarning, match=r"'x': '1\.234'.*decimal comma.*--column x=number:1,234\.5"):
        numbers = matrix(frame)
    np.testing.assert_array_equal(numbers, [[1234, 0.5, 1], [5678, 1.5, 2]])


def test_several_currencies_are_no_numbers_until_one_says_so():
    amounts = [f"{k} {'EUR' if k % 2 else 'USD'}" for k in range(40)]
    with pytest.warns(UserWarning, match=r"'x' is left out.*several currencies \(EUR, USD\).*--column x=number"):
        assert only(amounts).kind == "identifier"
    assert only(amounts, kinds={"x": "number"}).kind == "number"


def test_numbers_that_are_not_written_in_one_way_are_warned_of():
    with pytest.warns(UserWarning, match=r"'x' is left out.*not written in one way"):
        assert only([f"{k},5" if k % 2 else f"{k}.5" for k in range(40)]).kind == "identifier"


def test_the_spelling_of_numbers_is_called_by_an_example_or_a_mark():
    assert [check_spelling(name) for name in (*SPELLINGS, ".", ",")] == [*SPELLINGS, POINT, COMMA]
    with pytest.raises(ValueError, match=r"'1;5' is no way to write numbers; use one of '1234\.5'"):
        check_spelling("1;5")
    assert find_spellings(pl.Series(["a", "b"])) == find_spellings(pl.Series([], dtype=pl.String)) == ()


# --- long numbers and free text ---


@pytest.mark.parametrize("as_text", [False, True])
def test_card_numbers_are_no_amounts(as_text, rng):
    cards = rng.integers(4 * 10**15, 6 * 10**15, 30).repeat(3)
    column = only(cards.astype(str) if as_text else cards)
    assert column.kind == "identifier"
    assert column.note.startswith("left out: whole numbers of 16 digits, such as those of cards")
    assert "--column x=number" in column.note
    assert only(cards, kinds={"x": "number"}).kind == "number"


def test_large_amounts_are_no_card_numbers(rng):
    assert only(rng.normal(0, 1e15, 30) + 0.5).kind == "number"
    assert only(rng.integers(0, 10**12, 30)).kind == "number"
    assert only(rng.normal(0, 1e25, 30)).kind == "number"  # whole, as all numbers of that size


def test_free_text_is_text_and_not_an_identifier():
    assert only(TEXTS).kind == "text"
    assert "--column x=drop" in only(TEXTS).note
    assert only([f"Anna Berg{k}" for k in range(60)]).kind == "identifier"
    assert only(list(COMPLAINTS) * 10).kind == "category"
    assert only([f"{text} {k // 10}" for k, text in enumerate(TEXTS * 10)]).kind == "text"  # ten of each


def test_texts_of_the_same_words_are_near_each_other():
    features = TextFeatures().fit_transform(TEXTS)
    assert features.shape == (60, MOST_FEATURES)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1)
    distances = np.linalg.norm(features[:, None] - features[None], axis=2)
    same = np.arange(60)[:, None] % 5 == np.arange(60) % 5
    assert distances[same].max() < distances[~same].min()


def test_text_without_a_known_word_is_in_the_middle():
    encoder = TextFeatures().fit(TEXTS)
    np.testing.assert_array_equal(encoder.transform(["", "qwertz"]), np.zeros((2, MOST_FEATURES)))
    assert TextFeatures().fit(["one", "one"]).transform(["one two"]).tolist() == [[1.0]]


def test_text_beside_other_columns_saved_and_loaded(tmp_path, rng):
    frame = pl.DataFrame({"note": [*TEXTS[:-1], None], "x": rng.normal(size=60), "word": ["a", "b"] * 30})
    encoder = TableEncoder()
    features = encoder.fit_transform(frame)
    assert encoder.columns_.names == ["x", "word", "note"]
    np.testing.assert_array_equal(encoder.by_column(np.ones(3 + MOST_FEATURES)), [MOST_FEATURES, 1, 2])
    np.testing.assert_array_equal(features[-1, 3:], 0)
    save(encoder, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").transform(frame), features)
    np.testing.assert_array_equal(encoder.fit(frame).transform(frame), features)
    alone = TableEncoder()
    assert alone.fit_transform(frame.select("note")).shape == (60, MOST_FEATURES)
    assert alone.by_column(np.ones(MOST_FEATURES)) == [MOST_FEATURES]


# --- what can be said ---

SAID = {
    "number": (["1", "2", "three"], "number", [1, 2, np.nan]),
    "number:1.234,5": (["1.234", "2,5", "3"], "number", [1234, 2.5, 3]),
    "number:,": (["1.234", "2,5", "3"], "number", [1234, 2.5, 3]),
    "category": ([3, 1, 2], "category", [2, 0, 1]),
    "date": (["1970-01-02", "1970-01-11", None], "date", [1, 10, np.nan]),
    "date:%d/%m/%Y": (["02/01/1970", "11/01/1970", "?"], "date", [1, 10, np.nan]),
    "date:%Y%m%d": ([19700102, 19700111, None], "date", [1, 10, np.nan]),
    "boolean": ([1, 0, None], "boolean", [1, 0, np.nan]),
}


@pytest.mark.parametrize("said", SAID)
@pytest.mark.filterwarnings("ignore:Column 'x'. 1 of 3 values are not a number")
def test_a_column_is_what_is_said(said):
    values, kind, expected = SAID[said]
    frame = pl.DataFrame({"x": values})
    columns = find_columns(frame, kinds={"x": said})
    assert columns.all[0].kind == kind
    np.testing.assert_array_equal(columns.matrix(frame)[0][:, 0], expected)


@pytest.mark.parametrize("kind", ["identifier", "drop"])
def test_a_column_that_is_said_to_be_left_out(kind):
    column = only([1.5, 2.5, 3.5], kinds={"x": kind})
    assert (column.kind, column.used) == (kind, False)


def test_what_cannot_be_read_as_said_is_told():
    with pytest.warns(UserWarning, match=r"'x': 1 of 3 values are not a number written as 1234\.5; taken as missing"):
        only(["1", "2", "three"], kinds={"x": "number"})


@pytest.mark.parametrize(
    ("values", "kinds", "message"),
    [
        (["a", "b"], {"x": "number"}, r"No value of column 'x' is a number.*'a'"),
        (["a", "b"], {"x": "date"}, r"cannot be read as dates: 'a'. Say how.*--column x=date:%d/%m/%Y"),
        (["a", "b"], {"x": "date:%Y"}, r"No value of column 'x' is a date written as %Y"),
        (["a", "b"], {"x": "boolean"}, r"no boolean: it holds 'a'"),
        (["-", "!"], {"x": "text"}, "no words in it"),
        ([[1], [2]], {"x": "number"}, r"holds List\(Int64\), which cannot be a number"),
        (["a", "b"], {"x": "colour"}, "cannot be 'colour'; say one of number, category, date"),
        (["a", "b"], {"x": "category:a"}, "only numbers and dates are written in some way"),
        (["a", "b"], {"x": "number:1;5"}, "'1;5' is no way to write numbers"),
        (["a", "b"], {"y": "number"}, "There is no column 'y' to say something of. The columns are: 'x'"),
    ],
)
def test_what_cannot_be_said(values, kinds, message):
    with pytest.raises(TableError, match=message):
        only(values, kinds=kinds)


def test_names_and_kinds_are_parted_at_the_last_sign():
    assert parse_kinds(["a=b=number", "t:1=date:%H:%M", "=drop"]) == {"a=b": "number", "t:1": "date:%H:%M", "": "drop"}
    with pytest.raises(TableError, match="--column amount does not say what the column is: NAME=KIND, one of number"):
        parse_kinds(["amount"])


def test_what_was_found_can_be_said_again(rng):
    """Kinds and numbers of a table are the same when what was found is pasted back as options of the shell."""
    n = 60
    frame = pl.DataFrame(
        {
            "plain": rng.normal(size=n).astype(str),
            "it's = a price": [f"{k}.234,50 €" for k in range(1, n + 1)],
            "day": [f"{1 + k % 28:02d}/01/2024" for k in range(n)],
            "moment": [f"2024-01-02 10:{k:02d}" for k in range(n)],
            "flag": ["TRUE", "false"] * 30,
            "word": ["a", "b", None] * 20,
            "note": TEXTS,
            "key": [f"K{k}" for k in range(n)],
            "same": ["x"] * n,
            "empty": [None] * n,
            "typed": rng.integers(0, 9, n),
        }
    )
    found = find_columns(frame)
    shell = " ".join(f"--column {shlex.quote(column.said)}" for column in found.all)
    again = find_columns(frame, kinds=parse_kinds(shlex.split(shell)[1::2]))
    assert again.names == found.names
    assert [(c.kind, c.pattern, c.categories) for c in again.used] == [
        (c.kind, c.pattern, c.categories) for c in found.used
    ]
    np.testing.assert_array_equal(again.matrix(frame)[0], found.matrix(frame)[0])
    assert again.words(frame, "note") == found.words(frame, "note")


# --- what cannot be read later ---


@pytest.mark.parametrize(
    ("column", "later", "message"),
    [
        (
            Column("x", "number"),
            ["1,5", "2,5"],
            r"2 of the first 2 values of column 'x'.*'1,5'.*1234\.5.*--decimal ','",
        ),
        (Column("x", "number", pattern=COMMA), ["1.5", "2.5"], r"written as 1\.234,5.*--decimal '\.'"),
        (Column("x", "number"), [["a"], ["b"]], "cannot be read"),
        (Column("x", "date", pattern="%d/%m/%Y"), ["2024-01-02", "2024-01-03"], "dates written as %d/%m/%Y"),
        (Column("x", "date"), [45000, 45001], "dates written as %Y-%m-%d"),
        (Column("x", "boolean", categories=("false", "true")), ["ja", "nein"], "true and false, yes and no"),
    ],
)
def test_a_column_that_cannot_be_read_is_refused(column, later, message):
    columns = Columns((column,))
    _, notices = columns.matrix(pl.DataFrame({"x": later}))
    assert notices.unreadable == {"x": 2}
    with pytest.raises(TableError, match=message):
        columns.check_readable(notices, "t.csv")


def test_a_few_values_that_cannot_be_read_are_counted():
    columns = Columns((Column("x", "number"),))
    _, notices = columns.matrix(pl.DataFrame({"x": ["1"] * 9 + ["oops"] + [""] * 90}))
    columns.check_readable(notices, "t.csv")
    assert notices.unreadable_share("x") == 0.1
    _, more = columns.matrix(pl.DataFrame({"x": ["no"]}))
    notices.add(more)
    assert notices.examples == {"x": "oops"}
    with pytest.raises(TableError, match="2 of the first 11 values of column 'x'"):
        columns.check_readable(notices, "t.csv")

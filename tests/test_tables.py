"""Tables: what a file is, what its columns hold, and the same numbers whole, in batches and in every format."""

import datetime as dt
import re
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from unlabeled.tables import Columns, Table, TableEncoder, TableError, find_columns, find_labels, rows_a_batch
from unlabeled.tables.broken_lines import find_broken_line
from unlabeled.tables.columns import UNSEEN, Column, nearest_first
from unlabeled.tables.formats import find_format
from unlabeled.tables.labels import is_labelled
from unlabeled.tables.texts import MOST_FEATURES
from unlabeled.tables.writing import text_writer, writer

FRAME = pl.DataFrame(
    {
        "amount": [1.5, None, 3.0, -2.25] * 10,
        "größe": [3, 1, 2, 7] * 10,
        "city": ["Köln", "a, b", None, 'say "x"'] * 10,
        "ok": [True, False, None, True] * 10,
        "day": [dt.date(2024, 1, d) for d in (1, 2, 3, 4)] * 10,
        "known": [1, 0, 0, 0] * 10,
    }
)
WRITERS = {
    "csv": FRAME.write_csv,
    "tsv": lambda path: FRAME.write_csv(path, separator="\t"),
    "semicolon": lambda path: FRAME.write_csv(path, separator=";"),
    "parquet": FRAME.write_parquet,
    "feather": FRAME.write_ipc,
}
EMPTY_WRITERS = {
    "csv": FRAME.clear().write_csv,
    "parquet": FRAME.clear().write_parquet,
    "feather": FRAME.clear().write_ipc,
}


@pytest.fixture
def csv(tmp_path):
    def write(text):
        path = tmp_path / "table.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


# --- what a file is ---


@pytest.mark.parametrize("kind", WRITERS)
def test_a_format_is_told_by_content_and_read_alike(kind, tmp_path):
    path = tmp_path / "misleading.dat"
    WRITERS[kind](path)
    table = Table.open(path)
    assert table.format.kind == ("csv" if kind in {"tsv", "semicolon"} else kind)
    frame = table.read()
    assert frame.columns == FRAME.columns
    found, expected = (find_columns(f).matrix(f)[0] for f in (frame, FRAME))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("n_rows", [1, 7, 1000])
def test_batches_are_the_table(kind, n_rows, tmp_path):
    path = tmp_path / "table"
    WRITERS[kind](path)
    table = Table.open(path)
    batches = list(table.batches(["day", "city"], n_rows))
    assert max(len(batch) for batch in batches) <= n_rows
    assert pl.concat(batches).equals(table.read().select("day", "city"))
    assert table.row(6, ["größe"]).item() in {1, "1"}
    assert table.row(41, ["größe"]) is None


def test_libsvm_by_content_whole_and_in_batches(tmp_path, rng):
    rows = rng.integers(0, 3, size=(50, 6)).astype(float)
    rows[:, 4] = 0
    labels = np.where(rng.uniform(size=50) < 0.3, 1, -1)
    dump_svmlight_file(rows, labels, str(tmp_path / "data.txt"), zero_based=False)
    table = Table.open(tmp_path / "data.txt")
    frame = table.read()
    assert frame.columns == ["label", "1", "2", "3", "4", "5", "6"]
    np.testing.assert_array_equal(frame.drop("label").to_numpy(), rows)
    np.testing.assert_array_equal(find_labels(frame, "label").is_positive, labels == 1)
    batches = pl.concat(table.batches(["6", "1", "99"], 7))  # a column that no row mentions is one of zeros
    np.testing.assert_array_equal(batches.to_numpy(), np.column_stack([rows[:, [5, 0]], np.zeros(50)]))
    np.testing.assert_array_equal(table.row(50, ["2"]).item(), rows[49, 1])


def test_a_byte_order_mark_is_no_part_of_a_name(csv):
    assert Table.open(csv("\ufeffname;b\n1;2\n")).read().columns == ["name", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"\x1f\x8b\x08\x00", "cannot be unpacked .gzip."),
        (b"PK\x03\x04rest", "Excel"),
        (b"\xff\xfea\x00,\x00b\x00", "column names and no rows"),
        (b"FEA1....", "Feather"),
        (b"unlabeled model\n{}", "a saved model"),
        (b"PAR1 and no more", "cannot be read as Parquet"),
        (b"ARROW1 and no more", "cannot be read as Feather"),
        (b"a,b\n", "column names and no rows"),
        (b"[1, 2]\n", "JSON in one piece"),
        (b'{"a": 1}\n{"a": \n', "line 2 is not a JSON object"),
        (b'{"a": 1}\n[2]\n', "line 2 is not a JSON object"),
        (b"a,b\0\n", "neither text nor"),
        (b"SQLite format 3\0", "a database"),
        (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields where the header has 2"),
        (b"a,b\n1,2\n3\n4,5\n", "line 3 has 1 fields where the header has 2"),
        (b'a,b\n1,"2\n3,4\n', "line 3 cannot be read"),
        (b'a,b\n1,"2\n3"\n4,5,6\n', "line 4 has 3 fields"),
        (b"1 1:2\n1 x:3\n", "cannot be read as LIBSVM"),
    ],
)
def test_files_that_are_no_tables(csv, content, message):
    with pytest.raises(TableError, match=message):
        Table.open(csv(content)).read()


def test_a_short_line_is_found_in_batches_too(csv):
    path = csv("a,b\n" + "1,2\n" * 500 + "3\n" + "4,5\n" * 5)
    with pytest.raises(TableError, match="line 502 has 1 fields"):
        list(Table.open(path).batches(["a"], 100))


def test_a_missing_file_names_one_that_is_like_it(tmp_path):
    (tmp_path / "customers.parquet").touch()
    with pytest.raises(TableError, match=r"does not exist\. Did you mean customers\.parquet"):
        find_format(tmp_path / "customers.csv")


def test_empty_lines_are_no_rows(csv):
    table = Table.open(csv("a,b\n1,2\n\n3,\n,4\n,\n\n"))
    expected = {"a": ["1", "3", None], "b": ["2", None, "4"]}
    assert table.read().to_dict(as_series=False) == expected
    assert pl.concat(table.batches(["a", "b"], 1)).to_dict(as_series=False) == expected
    assert table.row(3, ["b"])["b"].to_list() == ["4"]
    one_column = Table.open(csv("a\n1\n\n2\n"))
    assert one_column.read()["a"].to_list() == ["1", None, "2"]


def test_a_character_may_be_cut_where_the_head_of_a_file_ends(csv):
    path = csv("a,b\n" + "x,ö\n" * 40_000)
    assert find_format(path).kind == "csv"
    assert Table.open(path).read().shape == (40_000, 2)


def test_empty_last_fields_are_no_broken_lines(csv):
    path = csv("a,b\n1,\n2,\n")
    assert find_broken_line(path, ",") is None
    assert Table.open(path).read().height == 2


def test_lines_are_looked_at_once_where_the_last_column_has_gaps(csv, monkeypatch):
    path = csv("a,b\n" + "1,\n2,3\n" * 500)
    calls = []
    monkeypatch.setattr(
        "unlabeled.tables.reading.find_broken_line", lambda *given: calls.append(given) or find_broken_line(*given)
    )
    assert len(list(Table.open(path).batches(["a"], 10))) >= 100
    assert len(calls) == 1


@pytest.mark.parametrize("kind", EMPTY_WRITERS)
def test_a_table_without_rows_is_refused_in_batches_too(kind, tmp_path):
    path = tmp_path / "table"
    EMPTY_WRITERS[kind](path)
    with pytest.raises(TableError, match="column names and no rows"):
        list(Table.open(path).batches(["day"], 10))


def test_parquet_of_one_row_group_is_read_in_slices(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"x": np.arange(1000)}).write_parquet(path, row_group_size=1000)
    chunks = list(Table.open(path)._chunks(["x"], 30))
    assert max(len(chunk) for chunk in chunks) == 120
    np.testing.assert_array_equal(pl.concat(chunks)["x"].to_numpy(), np.arange(1000))


# --- what columns hold ---


def kinds(**columns):
    return {column.name: column.kind for column in find_columns(pl.DataFrame(columns)).all}


def test_kinds_of_columns():
    n = 40
    found = kinds(
        number=np.linspace(0, 1, n),
        text_number=[str(v) for v in np.linspace(0, 1, n)],
        gaps=["1", "", "NA", "2.5"] * 10,
        boolean=[True, False] * 20,
        text_boolean=["TRUE", "false"] * 20,
        word=["a", "b"] * 20,
        day=["2024-01-02", "2023-11-30"] * 20,
        european=["31.12.2023", "01.02.2024"] * 20,
        moment=["2024-01-02 10:00:00", "2024-01-03 11:30:00"] * 20,
        counter=np.arange(100, 100 + n),
        customer_id=np.arange(n) * 17,
        text_id=[f"C{i}" for i in range(n)],
        constant=np.ones(n),
        present_or_not=["yes", ""] * 20,
        empty=[None] * n,
        blank=[""] * n,
        infinite=[float("inf")] * n,
        nested=[[1, 2]] * n,
    )
    assert found == {
        "number": "number",
        "text_number": "number",
        "gaps": "number",
        "boolean": "boolean",
        "text_boolean": "boolean",
        "word": "category",
        "day": "date",
        "european": "date",
        "moment": "date",
        "counter": "identifier",
        "customer_id": "identifier",
        "text_id": "identifier",
        "constant": "constant",
        "present_or_not": "category",
        "empty": "empty",
        "blank": "empty",
        "infinite": "empty",
        "nested": "no value",
    }


DAYS = {
    "2024-02-01": ["2024-02-01", "2024-12-31"],
    "2024-02-01 10:30": ["2024-02-01 10:30", "2024-12-31 10:30"],
    "2024-02-01T10:30:00Z": ["2024-02-01T10:30:00Z", "2024-12-31T11:30:00+01:00"],
    "day first by one value": ["01/02/2024", "31/12/2024"],
    "month first by one value": ["02/01/2024", "12/31/2024"],
    "day first, dashes": ["1-2-2024", "31-12-2024"],
    "month first, with time": ["2/1/2024 10:30", "12/31/2024 10:30"],
    "day first, short years": ["01/02/24", "31/12/24"],
}


@pytest.mark.parametrize("case", DAYS)
def test_one_value_decides_how_all_dates_are_written(case):
    frame = pl.DataFrame({"day": [DAYS[case][0]] * 60 + [DAYS[case][1]]})  # found among all values, not in the first
    columns = find_columns(frame)
    days, _ = columns.matrix(frame)
    expected = [(dt.date(2024, month, day) - dt.date(1970, 1, 1)).days for month, day in ((2, 1), (12, 31))]
    np.testing.assert_array_equal(np.floor(days[[0, -1], 0]), expected)


def test_dates_that_may_be_read_in_two_ways_are_warned_of():
    frame = pl.DataFrame({"joined": ["03/03/2024", "", " 01/02/2024"]})
    with pytest.warns(
        UserWarning, match=r"'joined'.*month first, '01/02/2024' as 2024-01-02.*--column joined=date:%d/%m/%Y\."
    ):
        columns = find_columns(frame)
    later = pl.DataFrame({"joined": ["01/02/2024", "31/01/2024"]})  # the model keeps to it
    days, notices = columns.matrix(later)
    np.testing.assert_array_equal(days[:, 0], [(dt.date(2024, 1, 2) - dt.date(1970, 1, 1)).days, np.nan])
    assert notices.unreadable == {"joined": 1}


def test_dates_that_are_the_same_in_both_ways_need_no_warning():
    assert kinds(day=["01/01/2024", "02/02/2024"]) == {"day": "date"}


@pytest.mark.parametrize("values", [["13/01/2024", "01/13/2024"], ["1.2.3", "2.11.24"], ["a/b/c", "1/2/3"]])
def test_texts_that_are_no_dates(values):
    assert kinds(text=values) == {"text": "category"}


def test_different_whole_numbers_are_not_always_identifiers(rng):
    assert kinds(cents=rng.choice(100_000, 50, replace=False)) == {"cents": "number"}


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["10", "20", "30", "NA"])])
def test_columns_that_are_categories_by_type(dtype):
    values = pl.Series("code", ["10", "20", "NA", "30", None, "10"], dtype=dtype)
    columns = find_columns(values.to_frame())
    assert columns.all[0].kind == "category"
    assert columns.all[0].categories == ("10", "20", "30")
    np.testing.assert_array_equal(columns.matrix(values.to_frame())[0][:, 0], [0, 1, np.nan, 2, np.nan, 0])
    as_number = Columns((Column("code", "number"),))
    np.testing.assert_array_equal(as_number.matrix(values.to_frame())[0][:, 0], [10, 20, np.nan, 30, np.nan, 10])


def test_a_few_words_among_numbers_are_refused_with_their_line():
    frame = pl.DataFrame({"amount": ["1", "2", "", "oops", "4"]})
    with pytest.raises(
        TableError, match=r"'amount' mixes numbers and words: 'oops' on line 5.*--column amount=category"
    ):
        find_columns(frame, first_line=2)
    assert find_columns(frame, kinds={"amount": "category"}).all[0].kind == "category"


def test_numbers_of_columns():
    frame = pl.DataFrame(
        {
            "x": [1.0, float("nan"), float("inf"), None],
            "word": ["b", "a", None, "b"],
            "flag": [True, False, None, True],
            "day": [dt.date(1970, 1, 11), None, dt.date(1969, 12, 31), dt.date(1970, 1, 1)],
        }
    )
    matrix, notices = find_columns(frame).matrix(frame)
    nan = np.nan
    np.testing.assert_array_equal(matrix, [[1, 10, 1, 1], [nan, nan, 0, 0], [nan, -1, nan, nan], [nan, 0, 1, 1]])
    assert notices.unseen == notices.unreadable == {}


def test_strange_values_at_prediction_are_counted():
    columns = Columns((Column("x", "number"), Column("word", "category", categories=("a", "b")), Column("d", "date")))
    frame = pl.DataFrame({"d": ["2024-01-02", "soon", ""], "word": ["c", "a", ""], "x": ["1", "many", " 3 "]})
    matrix, notices = columns.matrix(frame)
    np.testing.assert_array_equal(matrix[:, [0, 2]], [[1, UNSEEN], [np.nan, 0], [3, np.nan]])
    assert notices.unseen == {"word": 1}
    assert notices.unreadable == {"x": 1, "d": 1}


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=2, max_size=30))
def test_numbers_survive_text(values):
    """A number column and its CSV text become the same matrix."""
    as_numbers = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})
    as_text = as_numbers.select(pl.col("x").map_elements(repr, return_dtype=pl.String))
    column = Columns((Column("x", "number"),))
    np.testing.assert_array_equal(column.matrix(as_numbers)[0], column.matrix(as_text)[0])


def test_features_are_of_one_scale_and_tell_what_was_missing(rng):
    frame = pl.DataFrame(
        {"x": [None if i % 5 == 0 else float(v) for i, v in enumerate(rng.normal(50, 9, 100))], "word": ["a", "b"] * 50}
    )
    encoder = TableEncoder()
    features = encoder.fit_transform(frame)
    assert features.shape == (100, 4)  # x, x is missing, a, b
    present = features[:, 1] == 0
    assert features[present, 0].mean() == pytest.approx(0)
    assert features[present, 0].std() == pytest.approx(1)
    np.testing.assert_array_equal(features[:, 1], np.arange(100) % 5 == 0)
    new = encoder.transform(pl.DataFrame({"x": [50.0], "word": ["c"]}))
    np.testing.assert_array_equal(new[0, 2:], [0, 0])


def test_rare_categories_share_a_feature():
    words = [f"common{i}" for i in range(10)] * 40 + [f"rare{i}" for i in range(100)]
    frame = pl.DataFrame({"word": words})
    features = TableEncoder().fit_transform(frame)
    assert features.shape[1] == 50 + 1 + MOST_FEATURES  # which, how often, and how it is spelled


def test_columns_survive_as_text():
    columns = find_columns(FRAME)
    copy = Columns.__new__(Columns)
    copy.__setstate__(columns.__getstate__())
    assert copy == columns


# --- labels ---


@pytest.mark.parametrize(
    ("values", "positive", "expected"),
    [
        ([1, 0, 0, 1], None, [1, 0, 0, 1]),
        ([1.0, None, 0.0, 1.0], None, [1, 0, 0, 1]),
        ([-1, 1, 1, -1], None, [0, 1, 1, 0]),
        ([True, False, None, True], None, [1, 0, 0, 1]),
        (["fraud", "", None, "fraud"], None, [1, 0, 0, 1]),
        (["Yes", "no", "", "Yes"], None, [1, 0, 0, 1]),
        (["1", "0", "", "1"], None, [1, 0, 0, 1]),
        (["a", "b", "c", "a"], "a", [1, 0, 0, 1]),
        ([2, 3, 4, 2], "2.0", [1, 0, 0, 1]),
        ([True, False, False, True], "FALSE", [0, 1, 1, 0]),
    ],
)
@pytest.mark.filterwarnings("ignore:Beside .* these rows are taken for unlabeled ones")
def test_label_columns(values, positive, expected):
    np.testing.assert_array_equal(find_labels(pl.DataFrame({"y": values}), "y", positive).is_positive, expected)


@pytest.mark.parametrize(
    ("others", "negative", "told"),
    [
        (["clear", None], None, "has 'clear': .* If it marks rows"),
        (["clear", "open"], None, "has 'clear', 'open': .* If one of them marks rows"),
        (["clear", "open", None], "clear", "Beside 'fraud', 'clear' column 'y' has 'open': .* unlabeled ones.$"),
        (["negative", None], None, "has 'negative'"),
        (["clear", "open"], "clear", None),  # one value for unlabeled rows, whatever it is
        (["no", None], None, None),  # as good as empty
        (["clear"], None, None),
    ],
)
def test_a_third_value_is_warned_of(others, negative, told):
    frame = pl.DataFrame({"y": ["fraud", *others] * 2})
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        find_labels(frame, "y", "fraud", negative)
    assert [re.search(told, str(one.message)) is not None for one in found] == [True] * (told is not None)


@pytest.mark.parametrize(
    ("values", "positive", "message"),
    [
        ([0, 0, 0], None, "no labelled positives"),
        ([False, False], None, "no labelled positives"),
        (["", None, ""], None, "empty throughout"),
        ([1, 1, 1], None, "Every row has '1'.*Unlabeled rows are needed"),
        ([1], None, "Every row"),
        ([1, 0, 0], None, "only one labelled positive"),
        ([1, 1, 0], None, "only one unlabeled row"),
        (["a", "b", "a"], None, r"2 values: 'a', 'b'.*--positive"),
        ([1, 2, 3, 1], None, r"3 values.*--positive"),
        (["a", "b", "a"], "c", "No row has 'c'.*'a', 'b'"),
        ([[1], [2]], None, "cannot be a label"),
    ],
)
def test_label_columns_that_cannot_be_used(values, positive, message):
    with pytest.raises(TableError, match=message):
        find_labels(pl.DataFrame({"y": values}), "y", positive)


@pytest.mark.parametrize(
    ("values", "positive", "expected"),
    [
        (["TRUE", "False", "", "True"], "true", [1, 0, 0, 1]),
        ([True, False, None, True], "True", [1, 0, 0, 1]),
        (["1.0", "0.0", "", "1"], "1", [1, 0, 0, 1]),
        ([1, 0, None, 1], "1.0", [1, 0, 0, 1]),
        ([0.5, 1.0, None, 0.5], "0.50", [1, 0, 0, 1]),
        (["Fraud", "none", None, "fraud"], "fraud", [1, 0, 0, 1]),
    ],
)
def test_another_table_may_write_the_label_otherwise(values, positive, expected):
    np.testing.assert_array_equal(is_labelled(pl.Series("y", values), positive).to_numpy(), expected)


def test_labels_to_learn_from_are_exact():
    found = find_labels(pl.DataFrame({"y": ["A", "a", "A", "a"]}), "y", "A")
    np.testing.assert_array_equal(found.is_positive, [True, False, True, False])


def test_the_nearest_name_comes_first():
    assert nearest_first("fraude", ["id", "amount", "is_fraud", "fraud"])[0] == "fraud"
    with pytest.raises(TableError, match=r"no column 'fruad'. The columns are: 'fraud', "):
        find_labels(pl.DataFrame({"amount": [1], "fraud": [1]}), "fruad")


# --- writing ---


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_batches_written_are_the_table_read(suffix, tmp_path):
    path = tmp_path / f"out{suffix}"
    with writer(path, suffix) as write:
        for start in range(0, 40, 7):
            write(FRAME.select("amount", "größe", "city").slice(start, 7))
    read = (
        pl.read_parquet(path)
        if suffix == ".parquet"
        else pl.read_csv(path, separator="\t" if suffix == ".tsv" else ",")
    )
    assert read.equals(FRAME.select("amount", "größe", "city"))


def test_an_error_while_writing_parquet_is_not_lost(tmp_path):
    def write_to_nowhere():
        with writer(tmp_path / "no folder" / "out.parquet", ".parquet") as write:
            for _ in range(20):
                write(FRAME)

    with pytest.raises(OSError, match="no folder"):
        write_to_nowhere()


def test_an_error_of_the_caller_ends_the_writer(tmp_path):
    def fail():
        with writer(tmp_path / "out.parquet", ".parquet") as write:
            write(FRAME)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()


def test_text_has_one_header(tmp_path):
    with (tmp_path / "out").open("wb") as file:
        write = text_writer(file)
        write(pl.DataFrame({"a": [1]}))
        write(pl.DataFrame({"a": [2]}))
    assert (tmp_path / "out").read_text() == "a\n1\n2\n"


def test_the_batches_of_a_wide_table_are_short():
    assert rows_a_batch(10_000) * 10_000 <= 1 << 21
    assert rows_a_batch(10**9) == 1

"""Tables as they come: compressed, in other encodings, in spreadsheets and JSON lines, from the standard input."""

import bz2
import datetime as dt
import gzip
import io
import lzma
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from sklearn.datasets import dump_svmlight_file

from unlabeled.files import Spool
from unlabeled.stages import listening
from unlabeled.tables import Table, TableError, find_columns
from unlabeled.tables.broken_lines import find_broken_line
from unlabeled.tables.encodings import find_encoding

ZSTD = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
ROWS = [(1.5, "Zoë", dt.date(2024, 1, 2), True), (None, "a, b", dt.date(2024, 12, 31), False), (3.0, None, None, True)]
FRAME = pl.DataFrame(ROWS * 10, schema=["amount", "name", "day", "ok"], orient="row")
CSV = FRAME.write_csv().encode()


def zipped(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("folder/", b"")
        archive.writestr("folder/table.csv", data)
    return buffer.getvalue()


PACKERS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": ZSTD.compress,
    "zip": zipped,
}


@pytest.fixture
def file(tmp_path):
    def write(data):
        path = tmp_path / "table"
        path.write_bytes(data)
        return path

    return write


def same(frame, expected=FRAME):
    """Whether two tables have the same columns and values once they are understood."""
    assert frame.columns == expected.columns
    np.testing.assert_array_equal(find_columns(frame).matrix(frame)[0], find_columns(expected).matrix(expected)[0])


def sheet(path, rows, *more_sheets):
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as book:
        page = book.add_worksheet("Data")
        for number, row in enumerate(rows):
            for place, value in enumerate(row):
                if isinstance(value, dt.date):
                    page.write_datetime(number, place, value)
                elif value is not None:
                    page.write(number, place, value)
        for name in more_sheets:
            book.add_worksheet(name)
    return path


# --- compressed ---


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_tables_are_read_as_the_others(kind, file):
    table = Table.open(file(PACKERS[kind](CSV)))
    assert (table.format.kind, table.format.compression) == ("csv", kind)
    assert table.format.in_words == f"CSV, compressed ({kind})"
    same(table.read())
    assert pl.concat(table.batches(["name"], 7)).equals(table.read().select("name"))
    assert table.row(2, ["name"]).item() == "a, b"
    assert len(table.copies) == (kind not in {"gzip", "zstd"})  # what polars reads itself needs no copy


@pytest.mark.parametrize("kind", PACKERS)
def test_a_broken_line_is_found_in_a_compressed_table(kind, file):
    table = Table.open(file(PACKERS[kind](CSV + b"1,2\n")))
    with pytest.raises(TableError, match="line 32 has 2 fields where the header has 4"):
        table.read()


@pytest.mark.parametrize("kind", [kind for kind in PACKERS if kind != "zip"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])  # of the latter a copy is made
def test_a_compressed_table_that_was_cut_off(kind, encoding, file, rng):
    packed = PACKERS[kind](pl.DataFrame(rng.normal(size=(20_000, 3))).write_csv().encode(encoding))
    path = file(packed[: len(packed) // 2])
    with pytest.raises(TableError, match=r"cannot be (unpacked|read)"):
        Table.open(path).read()


def test_archives_that_are_no_table(tmp_path, file):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", CSV)
        archive.writestr("b.csv", CSV)
    with pytest.raises(TableError, match="zip archive of 2 files; unpack it"):
        Table.open(tmp_path / "two.zip")
    with pytest.raises(TableError, match="damaged zip archive or Excel file"):
        Table.open(file(b"PK\x03\x04rest"))


def test_other_formats_may_be_compressed_too(tmp_path, file, rng):
    FRAME.write_parquet(tmp_path / "t.parquet")
    same(Table.open(file(gzip.compress((tmp_path / "t.parquet").read_bytes()))).read())
    rows = rng.integers(1, 9, size=(20, 3)).astype(float)
    dump_svmlight_file(rows, np.ones(20), str(tmp_path / "t.txt"), zero_based=False)
    found = Table.open(file(bz2.compress((tmp_path / "t.txt").read_bytes()))).read()
    np.testing.assert_array_equal(found.drop("label").to_numpy(), rows)


def test_copies_are_gone_with_their_table(file):
    table = Table.open(file(bz2.compress(CSV)))
    copy = table.source
    assert copy.exists()
    assert copy.stat().st_mode & 0o077 == 0  # for nobody else
    del table
    assert not copy.exists()


# --- encodings ---


@pytest.mark.parametrize(
    ("encoding", "found"),
    [("cp1252", "cp1252"), ("utf-16", "utf-16"), ("utf-16-le", "utf-16-le"), ("utf-8-sig", "utf-8")],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_encodings_are_guessed_and_said(encoding, found, pack, file):
    table = Table.open(file(pack(CSV.decode().encode(encoding))))
    assert table.format.encoding == found
    assert table.read()["name"][0] == "Zoë"
    said = f"The text is not UTF-8; it is read as {found}. If that is wrong: --encoding."
    assert table.notes == ([] if found == "utf-8" else [said])
    same(table.read())


def test_an_encoding_that_is_said_is_no_guess(file):
    table = Table.open(file("naam,b\nžluťoučký,1\n".encode("cp1250")), encoding="windows-1250")
    assert table.notes == []
    assert table.read()["naam"].item() == "žluťoučký"
    assert table.format.in_words == "CSV in CP1250"


def test_encodings_that_cannot_be(file):
    path = file(b"a,b\n\x81,1\n")
    with pytest.raises(TableError, match="There is no encoding 'klingon'; common ones are"):
        Table.open(path, encoding="klingon")
    with pytest.raises(TableError, match=r"not text in cp1252: see after line 1\. Say what it is: --encoding"):
        Table.open(path)
    with pytest.raises(TableError, match=r"not UTF-8 text.*--encoding cp1252"):
        Table.open(path, encoding="utf-8").read()


def test_a_character_may_be_cut_where_the_head_ends():
    assert find_encoding("aé".encode()[:-1], is_all=False) == "utf-8"
    assert find_encoding("aé".encode()[:-1], is_all=True) == "cp1252"


# --- headers ---


def test_a_name_that_is_there_twice_is_changed_and_told(file):
    table = Table.open(file(b"a,b,a,a_2,,\n1,2,3,4,5,6\n7,8,9,10,11,12\n"))
    assert table.names() == ["a", "b", "a_3", "a_2", "", "column_6"]
    assert table.read()["a_3"].to_list() == ["3", "9"]
    assert pl.concat(table.batches(["a", "a_3"], 1))["a"].to_list() == ["1", "7"]
    assert table.notes == [
        "Columns 1 and 3 are both called 'a': the second is 'a_3' here.",
        "Columns 5 and 6 are both without a name: the second is 'column_6' here.",
    ]
    assert table.header.renamed == {"a_3": "a", "column_6": ""}


# --- spreadsheets and JSON ---


def test_excel_is_read_as_text(tmp_path):
    path = sheet(tmp_path / "t.xlsx", [FRAME.columns, *FRAME.rows()])
    table = Table.open(path)
    assert table.format.in_words == "Excel"
    assert table.notes == []
    same(table.read())
    assert pl.concat(table.batches(["name"], 7))["name"].to_list() == FRAME["name"].to_list()
    assert table.row(2, ["name"]).item() == "a, b"


def test_words_between_the_numbers_of_a_sheet_are_not_lost(tmp_path):
    path = sheet(tmp_path / "t.xlsx", [["x", "card", "x"], [1, 4111111111111111, 2], ["oops", 5, 6], [3, 4, 5]], "More")
    table = Table.open(path)
    frame = table.read()
    assert frame["x"].to_list() == ["1", "oops", "3"]
    assert frame["card"][0] == "4111111111111111"
    assert table.notes == [
        "Columns 1 and 3 are both called 'x': the second is 'x_2' here.",
        "Only the first of 2 sheets is read, 'Data'.",
    ]
    with pytest.raises(TableError, match="mixes numbers and words: 'oops' on line 3"):
        find_columns(frame, first_line=table.first_line)


def test_sheets_without_rows_or_sense(tmp_path, file):
    with pytest.raises(TableError, match="no rows"):
        Table.open(sheet(tmp_path / "t.xlsx", [["a", "b"]])).read()
    with pytest.raises(TableError, match=r"cannot be read as Excel.*Save it as CSV"):
        Table.open(file(b"\xd0\xcf\x11\xe0 and no more")).read()


def test_json_lines(file):
    table = Table.open(file(FRAME.with_columns(pl.col("day").cast(pl.String)).write_ndjson().encode()))
    assert table.format.in_words == "JSON lines"
    same(table.read())
    assert pl.concat(table.batches(["name", "ok"], 7)).equals(FRAME.select("name", "ok"))
    assert table.row(2, ["name"]).item() == "a, b"


def test_json_lines_that_differ(file):
    lines = b'{"a": 1, "b": "x"}\n{"b": null, "a": 2.5, "c": true}\n{"a": null}\n'
    frame = Table.open(file(gzip.compress(lines))).read()
    assert frame.to_dict(as_series=False) == {"a": [1.0, 2.5, None], "b": ["x", None, None], "c": [None, True, None]}


# --- Feather of pandas ---


@pytest.mark.parametrize(
    "values",
    [["a", None, "b"], [10, 20, None], [None, None, None], [True, False, None]],
    ids=["text", "int", "no", "bool"],
)
def test_feather_of_pandas_with_missing_categories(values, tmp_path):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "t.feather"
    pandas.DataFrame({"c": pandas.Categorical(values * 10), "x": np.arange(30.0)}).to_feather(path)
    table = Table.open(path)
    assert table.read()["c"].to_list() == values * 10
    assert pl.concat(table.batches(["c"], 7))["c"].to_list() == values * 10
    assert table.row(3, ["c"]).item() == values[2]


def test_feather_that_polars_cannot_read_names_the_remedy(tmp_path, monkeypatch):
    FRAME.write_ipc(tmp_path / "t.feather")

    def refuse(*_given, **_options):
        raise pl.exceptions.ComputeError("The dictionary key must fit in a `usize`, but -1 does not.")

    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(pl.LazyFrame, "collect_batches", refuse)
    monkeypatch.setattr("unlabeled.tables.feather.import_module", absent)
    with pytest.raises(TableError, match="pip install pyarrow"):
        Table.open(tmp_path / "t.feather").read()


# --- the standard input ---


class _Input:
    def __init__(self, data):
        self.buffer = io.BytesIO(data)


@pytest.mark.parametrize(
    "data", [CSV, gzip.compress(CSV), CSV.decode().encode("cp1252")], ids=["plain", "gzip", "cp1252"]
)
def test_the_standard_input_is_a_table(data, monkeypatch):
    monkeypatch.setattr("sys.stdin", _Input(data))
    table = Table.open("-")
    assert table.name == "the standard input"
    same(table.read())
    assert len(list(table.batches(["name"], 7))) >= 5  # it can be read again


def test_an_empty_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", _Input(b""))
    with pytest.raises(TableError, match="the standard input is empty"):
        Table.open("-")


# --- what is told ---


def test_reading_tells_how_many_rows_it_has(file):
    told = []
    with listening(lambda *given: told.append(given)):
        Table.open(file(CSV)).read()
    assert told[0] == ("reading", "", None)
    assert ("reading", "30 rows", None) in told
    assert told[-1][:2] == ("reading", "")


def test_a_spool_holds_what_comes_in_pieces():
    spool = Spool(iter([b"a", b"b"]))
    assert spool.path.read_bytes() == b"ab"


def test_broken_lines_of_a_whole_table(file):
    assert find_broken_line(file(gzip.compress(CSV)), ",") is None
    assert Path(file(CSV)).exists()

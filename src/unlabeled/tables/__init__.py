"""Tables in files and in memory, and models of them: what the command line works on.

A table is read by its content (CSV, Excel, Parquet, Feather, JSON lines, LIBSVM; compressed or not), each column is
found to be a number, a date, a boolean, a category, free text or nothing of use, and `TableEncoder`, a transformer of
scikit-learn, makes features of them. The classifiers use it for data frames with columns of words. Needs polars:
``pip install 'unlabeled[tables]'``.
"""

from unlabeled.tables.columns import Column, Columns, Notices
from unlabeled.tables.encoding import TableEncoder
from unlabeled.tables.errors import TableError
from unlabeled.tables.finding import find_columns
from unlabeled.tables.labels import Labels, find_labels
from unlabeled.tables.model import TableModel
from unlabeled.tables.reading import Table, rows_a_batch
from unlabeled.tables.said import KINDS, parse_kinds

__all__ = [
    "KINDS",
    "Column",
    "Columns",
    "Labels",
    "Notices",
    "Table",
    "TableEncoder",
    "TableError",
    "TableModel",
    "find_columns",
    "find_labels",
    "parse_kinds",
    "rows_a_batch",
]

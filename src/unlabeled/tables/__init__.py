"""Tables in files, and models of them: what the command line works on.

A table is read by its content (CSV, TSV, Parquet, Feather, LIBSVM), each column is found to be a number, a date, a
boolean, a category or nothing of use, and a scikit-learn pipeline that is stored with the model makes features of
them. Needs polars: ``pip install 'unlabeled[cli]'``.
"""

from unlabeled.tables.columns import Column, Columns, Notices, find_columns
from unlabeled.tables.encoding import feature_columns
from unlabeled.tables.formats import TableError
from unlabeled.tables.labels import Labels, find_labels
from unlabeled.tables.model import TableModel, encode
from unlabeled.tables.reading import Table, rows_a_batch

__all__ = [
    "Column",
    "Columns",
    "Labels",
    "Notices",
    "Table",
    "TableError",
    "TableModel",
    "encode",
    "feature_columns",
    "find_columns",
    "find_labels",
    "rows_a_batch",
]

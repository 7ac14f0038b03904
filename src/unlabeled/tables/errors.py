"""The one error of this folder."""


class TableError(ValueError):
    """A table that cannot be used; the message says why and what to do.

    Examples
    --------
    >>> from unlabeled.tables import TableError, parse_kinds
    >>> try:
    ...     parse_kinds(["age"])
    ... except TableError as error:
    ...     print(type(error).__name__)
    TableError
    """

"""The one error of this folder."""


class TableError(ValueError):
    """A table that cannot be used; the message says why and what to do."""

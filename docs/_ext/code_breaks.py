"""Code in tables may break after a bracket, a comma or a dot, and before a capital: never in the middle of a word.

Without it a name such as LeastSquaresPUClassifier takes the room of all other columns on a phone. What is copied from a
page has nothing in it: ``<wbr>`` is no character.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

#: Between these a line may break.
PLACES = re.compile(r"(?<=[(\[,.=/_])(?=[^\s)\]_\d])|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def pieces(code: str) -> list[str]:
    """The words that code is made of, which stay whole.

    >>> pieces("PUClassifier(threshold=TwoClusters())")
    ['PU', 'Classifier(', 'threshold=', 'Two', 'Clusters())']
    """
    return PLACES.split(code)


def let_break(app: Any, doctree: nodes.document, name: str) -> None:  # noqa: ARG001
    """Put a place to break between the pieces of every code in a table."""
    if app.builder.format != "html":
        return
    for entry in doctree.findall(nodes.entry):
        for literal in list(entry.findall(nodes.literal)):
            for text in list(literal.findall(nodes.Text)):
                first, *rest = (nodes.Text(piece) for piece in pieces(text.astext()))
                breaks = [node for piece in rest for node in (nodes.raw("", "<wbr>", format="html"), piece)]
                text.parent.replace(text, [first, *breaks])


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.connect("doctree-resolved", let_break)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

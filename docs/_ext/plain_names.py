"""Names in single backticks: a link where they are ours, else plain code.

Docstrings put names in single backticks, `WMMDClassifier` and `X` alike. What this package exports becomes a link, by
its last name too. A full name, `unlabeled.priors.AutoPrior`, must lead somewhere: where it does not, Sphinx warns, and
a warning is an error.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode


def resolved(app: Any, env: Any, node: Any, content: Any) -> nodes.Node | None:
    """A link to the one object of that last name, plain code for other words, None for a full name that is wrong."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].removesuffix("()")
    homes = {name: entry for name, entry in env.domains["py"].objects.items() if not entry.aliased}
    found = [name for name in homes if name == target or name.rsplit(".", 1)[-1] == target]
    exported = [name for name in found if name.rsplit(".", 1)[0] in PUBLIC]
    if len(exported) == 1:
        entry = homes[exported[0]]
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, target)
    return None if target.startswith("unlabeled.") and not is_ours(target) else nodes.literal("", "", *content.children)


def is_ours(target: str) -> bool:
    """Whether a full name is that of a module, or of a value in one, that has no page of its own."""
    module, _, name = target.rpartition(".")
    return (
        find_spec(target) is not None if find_spec(module) is None or not hasattr(import_module(module), name) else True
    )


#: Modules whose names are known by their last part alone.
PUBLIC = frozenset(
    f"unlabeled{module}"
    for module in (
        "",
        ".bias",
        ".bounds",
        ".datasets",
        ".displays",
        ".distributed",
        ".engines",
        ".kernels",
        ".metrics",
        ".priors",
        ".reports",
        ".tables",
        ".wipm",
    )
)


def skipped(app: Any, what: str, name: str, obj: Any, skip: Any, options: Any) -> bool | None:  # noqa: ARG001
    """Whether scikit-learn made this member, as it does for its own machinery."""
    made = name.startswith(("set_", "get_metadata_routing", "get_params", "_")) or "sklearn" in str(
        getattr(obj, "__module__", "")
    )
    return True if made else None


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx of both."""
    app.connect("missing-reference", resolved)
    app.connect("autodoc-skip-member", skipped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

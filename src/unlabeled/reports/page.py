"""A report as one HTML page that needs nothing beside itself."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from typing import Any

from unlabeled.drawing import DARK, LIGHT, STYLE
from unlabeled.reports.content import Content, as_script_data
from unlabeled.versions import version_of


def render(content: Content) -> str:
    """The page."""
    jinja = _jinja()
    folder = files("unlabeled.reports")
    environment = jinja.Environment(
        autoescape=True, undefined=jinja.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["script_data"] = lambda data: _safe(as_script_data(data))
    template = environment.from_string(folder.joinpath("page.html.jinja").read_text(encoding="utf-8"))
    script = folder.joinpath("page.js").read_text(encoding="utf-8")
    colours = f":root {{ color-scheme: light dark; {LIGHT} }}\n"
    colours += f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {DARK} }} }}\n"
    colours += f":root[data-theme=dark] {{ {DARK} }}\n"
    style = colours + folder.joinpath("page.css").read_text(encoding="utf-8") + STYLE
    digest = b64encode(sha256(f"\n{script}".encode()).digest()).decode()
    return str(
        template.render(
            content=content,
            style=_safe(style),
            script=_safe(script),
            script_hash=digest,
            svg=_safe,
            version=version_of("unlabeled"),
            **content.sections,
        )
    )


def _safe(text: str) -> Any:
    """Markup that this package made itself: text of users in it is escaped where it was made."""
    return import_module("markupsafe").Markup(text)


def _jinja() -> Any:
    try:
        return import_module("jinja2")
    except ModuleNotFoundError as error:
        raise ImportError("The report is a page made by Jinja: pip install 'unlabeled[report]'.") from error

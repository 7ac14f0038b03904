"""How the documentation is built: `make docs` runs Sphinx on this folder, with warnings as errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import unlabeled

# Two examples run at a time, each on one core: threads of both would wait for each other.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "unlabeled"
author = "the unlabeled developers"
copyright = "the unlabeled developers, BSD-3-Clause"  # noqa: A001
version = release = unlabeled.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "code_breaks",
    "mathml",
    "plain_names",
    "wide_figures",
]
exclude_patterns = ["_build", "_ext", "gallery/**/*.py", "gallery/**/*.ipynb", "gallery/**/*.md5"]
suppress_warnings = ["config.cache"]
nitpicky = True
default_role = "py:obj"
templates_path = ["_templates"]

# Markdown pages are read on GitHub too: links go from file to file, and to headings by their words.
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_url_schemes = ["http", "https", "mailto"]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(demo|__init__)\.py",
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": ["../examples/pitfalls"],
    "nested_sections": False,
    "parallel": 2,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "plot_gallery": True,
    "abort_on_example_error": False,
    "min_reported_time": 30,
    "doc_module": ("unlabeled",),
    "reference_url": {"unlabeled": None},
    "backreferences_dir": None,
    "matplotlib_animations": False,
    "capture_repr": (),
}

html_theme = "pydata_sphinx_theme"
html_title = "unlabeled"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_sidebars: dict[str, list[str]] = {"quickstart": [], "choosing": [], "pitfalls": []}  # no pages below these
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
toc_object_entries_show_parents = "hide"
html_math_renderer = "mathml"
html_theme_options: dict[str, Any] = {
    "logo": {"text": "unlabeled"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "icon_links": [
        {"name": "GitHub", "url": "https://github.com/unlabeled/unlabeled", "icon": "fa-brands fa-github"},
    ],
}

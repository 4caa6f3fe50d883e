"""Sphinx settings of the documentation site, which packaging/build-docs builds."""

import re

project = "recmap"
copyright = "the recmap developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "recmap"
html_copy_source = False
exclude_patterns = ["docs/examples/CMakeLists.txt"]
# The frameworks are not installed where the site is built.
autodoc_mock_imports = [
    "datasets",
    "grain",
    "jax",
    "pyarrow",
    "pyspark",
    "ray",
    "tensorflow",
    "torch",
]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Indented blocks are shell commands or C; guessing the language of each would be wrong often.
highlight_language = "none"


def render_docstring(_app, _what, _name, _object, _options, lines: list[str]) -> None:
    """Docstrings are plain text: paragraphs stay paragraphs, text laid out by hand is literal."""
    rendered: list[str] = []
    for paragraph in "\n".join(lines).split("\n\n"):
        rows = paragraph.strip("\n").split("\n")
        if any(row.startswith(" ") for row in rows):
            rendered += ["::", "", *("    " + row for row in rows), ""]
        else:
            rendered += [re.sub(r"([*`|_\\])", r"\\\1", row) for row in rows] + [""]
    lines[:] = rendered


def show_version(_app, config) -> None:
    """The header of every page. packaging/build-docs tells the version."""
    text = f"These pages describe recmap {config.release}."
    config.html_theme_options = {"announcement": text}


def setup(app) -> None:
    app.connect("config-inited", show_version)
    app.connect("autodoc-process-docstring", render_docstring)

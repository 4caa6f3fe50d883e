"""Sphinx settings of the documentation site, which packaging/build-docs builds."""

project = "recmap"
copyright = "the recmap developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "recmap"
html_copy_source = False
exclude_patterns = ["docs/examples/CMakeLists.txt"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Indented blocks are shell commands or C; guessing the language of each would be wrong often.
highlight_language = "none"

"""Sphinx settings: ``make docs``. The pages need no network, neither built nor read."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = (ROOT / "botorch_ubo" / "__init__.py").read_text(encoding="utf-8")
VERSION = re.findall(r'^__version__ = "(.*)"$', PACKAGE, flags=re.MULTILINE)[0]

project = "botorch_ubo"
author = "botorch_ubo contributors"
copyright = f"2026, {author}"
version = release = VERSION

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # MathJax's files, copied beside the pages
    "page_links",
]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}
exclude_patterns = ["tutorials/*.md", "tutorials/*.py"]

# Markdown
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# Notebooks are shown as they are stored; `make tutorials` executes them.
nb_execution_mode = "off"
nb_merge_streams = True

# API
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True}
python_maximum_signature_line_length = 88
autoclass_content = "both"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# HTML
html_theme = "furo"
html_title = f"botorch_ubo {VERSION}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = html_logo = "static/box.svg"
html_show_sourcelink = False
html_copy_source = False
mathjax3_config = {"options": {"enableMenu": False}}

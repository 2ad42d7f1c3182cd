"""How the pages in this folder become a site (`make docs`)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from kmcf import __version__

project = "kmcf"
author = copyright = "The kmcf developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "local_formulas",  # formulas without a network
    "repository_links",  # files of the repository that are no pages
]
exclude_patterns = ["_build", "extensions", "figures"]
highlight_language = "none"  # blocks without a language are commands and output

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
napoleon_google_docstring = False
# Types in docstrings are prose ("array of shape (n, d)"), not names to look up.
napoleon_use_param = False
napoleon_use_rtype = False
add_module_names = False

html_theme = "furo"
html_title = f"kmcf {version}"
html_copy_source = False
html_math_renderer = "local_formulas"


def _skip(app, what, name, obj, skip, options):
    """Leave out what scikit-learn adds to every estimator: metadata routing, which nothing here uses."""
    return True if name == "get_metadata_routing" or (name.startswith("set_") and name.endswith("_request")) else None


def _without_gallery(app, name, content):
    """Take the gallery out of the navigation where it is not there."""
    if name == "index" and not (Path(app.srcdir) / "gallery").exists():
        content[0] = content[0].replace("gallery/README\n", "")


def _as_prose(app, what, name, obj, options, lines):
    """Keep Napoleon from taking "Number of steps: 0 at first" for a type and its description."""
    if what in ("attribute", "property", "data"):
        lines.insert(0, "")


def setup(app):
    """Connect with Sphinx."""
    app.connect("autodoc-process-docstring", _as_prose, priority=400)  # before Napoleon
    app.connect("source-read", _without_gallery)
    app.connect("autodoc-skip-member", _skip)

"""How Sphinx builds the site: `make docs`."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from docs import keeping, running  # noqa: E402

running.prepare()

from bayes_rl.version import VERSION  # noqa: E402
from envs.quiet import import_gym  # noqa: E402

import_gym()  # TF-Agents would import it with a notice

from docs.making import pages  # noqa: E402

project = "bayes_rl"
version = release = VERSION
html_title = f"bayes_rl {VERSION}"
html_theme = "furo"
html_favicon = "_static/icon.svg"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_static_path = ["_static", f"made/{pages.FILMS}"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "making", "outputs"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "docs.making.docstrings",
    "docs.making.mathml",
]

default_role = "py:obj"  # a name in backticks is a link where it has an entry
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # attributes of a NamedTuple have entries of their own
add_module_names = False
python_display_short_literal_types = True

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3


nb_execution_mode = "cache"
nb_execution_cache_path = str(keeping.cache())
nb_execution_timeout = running.SECONDS
nb_execution_raise_on_error = True
nb_execution_in_temp = True  # runs of pages are written to a folder of their own
nb_merge_streams = True
nb_render_markdown_format = "myst"  # with tables, and links that are checked
nb_output_stderr = "remove"
suppress_warnings = ["misc.highlighting_failure"]  # of `!command` that goes on in a line

pages.write(ROOT / "docs" / "made")


def _home(app, module, attribute):
    """The module whose source is shown: never that of a library that a name wraps."""
    found = getattr(getattr(sys.modules.get(module), attribute, None), "__module__", module)
    ours = found and found.split(".")[0] in ("bayes_rl", "agents", "envs")
    return found if ours else "bayes_rl.distributions"


def _unlist(app):
    """Takes sources that viewcode cannot parse from its list: they have no page."""
    found = getattr(app.env, "_viewcode_modules", {})
    app.env._viewcode_modules = {name: entry for name, entry in found.items() if entry}
    return []


def setup(app):
    app.connect("viewcode-follow-imported", _home)
    app.connect("html-collect-pages", _unlist, priority=400)  # before viewcode's own

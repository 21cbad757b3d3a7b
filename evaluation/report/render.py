"""From a page to one HTML file without any outside reference."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evaluation import __version__
from evaluation.charts.chart import SCHEMA, SELECTED_CASE, layered
from evaluation.charts.theme import theme
from evaluation.report.page import Page

# It draws specifications of version 5; Vega-Lite 5 itself warns of the newer Vega bundled with it.
_VEGA_LITE = "6.4"
_TEMPLATES = "templates"
# The ends of script elements and comments, and the ends of lines in some parsers.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def render_page(page: Page) -> str:
    """Return the HTML of a page: figures, styles and programs included, every text escaped.

    The page's own policy (Content-Security-Policy) forbids any connection and any other program. Raises
    `ValueError` where two figures have one name.
    """
    names = [chart.name for chart in page.charts()]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"more than one figure is called {', '.join(twice)}")
    environment = _environment()
    scripts = [*([_bundle()] if names else []), _source("page.js")]
    return environment.get_template("page.html").render(
        page=page,
        policy=_policy(scripts),
        style=Markup(_source("page.css")),  # noqa: S704 - ours
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - ours
        settings={
            "themes": {name: theme(name) for name in ("light", "dark")},
            "schema": SCHEMA,
            "selectedCase": SELECTED_CASE,
        },
        version=__version__,
    )


def as_script(content: Any) -> Markup:
    """Return a value as JSON that can be put into a script element: it cannot end that element."""
    text = json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.translate(_UNSAFE))  # noqa: S704 - nothing of markup is left in it


def compact(content: Any, significant: int = 6) -> Any:
    """Return a value with floats rounded to more significant digits than a figure shows."""
    if isinstance(content, float):
        rounded = float(f"{content:.{significant}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded
    if isinstance(content, Mapping):
        return {key: compact(value, significant) for key, value in content.items()}
    if isinstance(content, Sequence) and not isinstance(content, str):
        return [compact(value, significant) for value in content]
    return content


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evaluation.report", _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["as_script"] = as_script
    environment.filters["specification"] = lambda chart: as_script(compact(layered(chart)))
    environment.filters["case_rows"] = lambda table: as_script(
        {
            "columns": [[column.title, column.digits] for column in table.columns],
            "rows": compact(table.rows),
        }
    )
    return environment


@cache
def _bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one program, which defines ``vegaEmbed``."""
    program: str = vl_convert.javascript_bundle("Object.assign(window, { vegaEmbed });", _VEGA_LITE)
    return program


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


def _policy(scripts: Sequence[str]) -> str:
    """Return the content security policy: these scripts alone, pictures of the page itself, no connection."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        # Vega compiles its expressions, which come from this package alone.
        f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )

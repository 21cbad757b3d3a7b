"""Runs the cells of a notebook and writes what they show into it, as Jupyter does, without Jupyter.

    .venv/bin/python -m scripts.notebook examples/arrays-to-leaderboard.ipynb

Run in an empty folder of its own. A cell shows what it prints, and its last expression as text, HTML and PNG.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any


def shown_by(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell with the names of those before it, and return its outputs in the notebook's format."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102 - a cell of our own
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if value is not None:
        data = {"text/plain": repr(value)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_()
        if hasattr(value, "_repr_png_"):
            data["image/png"] = base64.b64encode(value._repr_png_()).decode("ascii")
        kind = {"output_type": "execute_result", "execution_count": None, "metadata": {}}
        outputs.append({**kind, "data": data})
    return outputs


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells, which run in an empty folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            cells = [
                {**cell, "outputs": shown_by("".join(cell["source"]), names)}
                if cell["cell_type"] == "code"
                else cell
                for cell in notebook["cells"]
            ]
        finally:
            os.chdir(before)
    return {**notebook, "cells": cells}


if __name__ == "__main__":
    path = Path(sys.argv[1])
    content = run(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

"""The notebook of the examples: it runs as it stands, and shows what it holds."""

import json

from scripts.notebook import run
from test.repository import REPOSITORY

NOTEBOOK = REPOSITORY / "examples" / "arrays-to-leaderboard.ipynb"


def texts_of(notebook):
    return [
        output.get("text") or output["data"]["text/plain"]
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
    ]


def test_the_notebook_runs_and_shows_its_outputs_and_pictures():
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    again = run(kept)
    assert texts_of(again) == texts_of(kept)
    shown = [
        kind
        for cell in kept["cells"]
        for output in cell.get("outputs", ())
        for kind in output.get("data", ())
    ]
    assert shown.count("image/png") == 1
    assert shown.count("text/html") == 3
    assert again["cells"][-1]["outputs"][0]["data"]["image/png"].startswith("iVBOR")

"""The notebook of the examples: it runs as it stands, and shows what it holds."""

import json
import shutil
import subprocess
import sys

from test.repository import REPOSITORY

NOTEBOOK = REPOSITORY / "examples" / "arrays-to-leaderboard.ipynb"


def texts_of(notebook):
    return [
        output.get("text") or output["data"]["text/plain"]
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
    ]


def test_the_notebook_runs_and_shows_its_outputs_and_pictures(tmp_path):
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    # In a process of its own, as a notebook has: its paths are relative to where it runs.
    copy = shutil.copy(NOTEBOOK, tmp_path)
    subprocess.run([sys.executable, "-m", "scripts.notebook", copy], cwd=REPOSITORY, check=True)
    again = json.loads((tmp_path / NOTEBOOK.name).read_text(encoding="utf-8"))
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

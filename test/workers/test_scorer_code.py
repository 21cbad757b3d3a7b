"""A scorer sees labels: it runs only code of the image, and its words reach nobody."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.phase.manifest import scan, seal
from test.repository import REPOSITORY

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="scorers live in processes")

CHALLENGE = '''
"""A challenge whose scorer tells where its code and its open files lie, and speaks."""

import os
import sys
from pathlib import Path

from evaluation.define import (
    CaseColumns, Challenge, Field, Number, Options, Reference, TableColumns, Task, mean_metric,
)

SUBMISSION = {submission!r}


def score(submitted, reference):
    os.write(1, b"label: 1\\n")
    os.write(2, b"label: 1\\n")
    print("label: 1", flush=True)
    places = [str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]
    strange = [place for place in places if place.startswith(SUBMISSION)]
    strange += [place for place in sys.path if place.startswith(SUBMISSION)]
    mapped = [line for line in Path("/proc/self/maps").read_text().splitlines() if SUBMISSION in line]
    held = [name for name in os.environ if name == "A_SECRET"]
    return {{"strange": float(len(strange)), "mapped": float(len(mapped)), "held": float(len(held))}}


FIELD = Field(
    name="value", title="Value", kind=Number(0, 1),
    archive=TableColumns(("values.csv",), "case", ("value",)), socket=None,
    reference=Reference(Number(0, 1), CaseColumns(("value",))),
)
METRICS = tuple(mean_metric(name, name, best=0, worst=1e6) for name in ("strange", "mapped", "held"))
TASK = Task(name="task", title="Task", fields=(FIELD,), score=score, metrics=METRICS)
CHALLENGE = Challenge(
    name="speaks", title="Speaks", options=Options, tasks=lambda options: (TASK,),
    components=("task.strange",),
)
'''


@pytest.fixture
def folders(tmp_path) -> tuple[Path, Path]:
    phase, submission = tmp_path / "phase", tmp_path / "submission"
    phase.mkdir()
    submission.mkdir()
    keys = 'challenge = "speaks"\nname = "speaks"\ntitle = "Speaks"\nsubmission = "archive"\n'
    (phase / "phase.toml").write_text(keys)
    (phase / "cases.csv").write_text("name,value\na,0\nb,1\n")
    (phase / "challenge.py").write_text(CHALLENGE.format(submission=str(submission)))
    (submission / "values.csv").write_text("case,value\na,0\nb,1\n")
    for name in ("numpy", "json", "evaluation", "challenge", "sitecustomize"):  # as if to be imported
        (submission / f"{name}.py").write_text("raise SystemExit(7)\n")
    seal(phase, scan(phase))
    return phase, submission


def evaluated(phase: Path, submission: Path, output: Path) -> subprocess.CompletedProcess[str]:
    given = ["--ground-truth", phase, "--input", submission, "--output", output, "--workers", "2"]
    return subprocess.run(
        [sys.executable, "-m", "evaluation", "evaluate", *map(str, given)],
        cwd=submission,  # where Python looks for modules first
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONSAFEPATH": "1",
            "A_SECRET": "yes",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_scorer_runs_no_code_of_a_submission_and_speaks_to_nobody(folders, tmp_path):
    done = evaluated(*folders, tmp_path / "output")
    assert done.returncode == 0, done.stdout
    figures = json.loads((tmp_path / "output" / "metrics.json").read_text())["aggregates"]["task"]
    assert {name: figure["value"] for name, figure in figures.items()} == {
        "strange": 0.0,
        "mapped": 0.0,
        "held": 0.0,
    }
    assert done.stderr == ""  # and its words reach neither the participant nor the log
    assert "label" not in done.stdout

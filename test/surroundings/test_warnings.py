"""Every command in Python's development mode, where each warning is an error."""

import re
import shutil
from pathlib import Path

from evaluation.cli.main import COMMANDS
from test.rooms import COMMANDS_OF_LEAVES, GONE, gone_of, skip_without
from test.started import run, strict_server

# In their order: a command works on what those before it have written.
LINES = """
plan --sensitivity 0.8 0.02 --prevalence 0.16
new lesions --like segmentation
cases lesions/phase
seal lesions/phase
rehearse lesions/phase
settings lesions/phase
form lesions/phase --output form.json
check --form form.json lesions/submission
unpack lesions/submission input
score lesions/phase/labels lesions/submission/segmentation --metrics dice
evaluate --ground-truth lesions/phase --input input --output scored --workers 1
summary scored/metrics.json
describe lesions/phase --output data
subset lesions/phase --share 0.5 --output part
audit lesions/phase
convert lesions/submission --ground-truth lesions/phase --output jobs
schema phase
sample refuge --output sample --cases 12 --width 64 --height 64
seal sample/ground-truth/refuge-sample
evaluate --each sample/submissions --ground-truth sample/ground-truth/refuge-sample --output each --workers 2
rank each --output board --resamples 20
ensemble teams/good teams/poor --ground-truth phase --output both
fuse annotators annotations --output fused
report submission --ground-truth lesions/phase --input input --output one.html --workers 1
report leaderboard board --output board.html
paper phase --results board --output paper
""".strip().splitlines()
WITH_DOCKER = {"audience", "build", "export"}
"""The tests of the container start them."""


def test_every_command_is_there():
    gone = {name for name, leaf in COMMANDS_OF_LEAVES.items() if leaf in GONE}
    assert {line.split()[0] for line in LINES} - gone == COMMANDS.keys() - WITH_DOCKER


def prepare(name: str, folder: Path) -> None:
    """Put what a command works on where its line has it."""
    if name == "ensemble":
        shutil.move(folder / "sample/submissions", folder / "teams")
        shutil.move(folder / "sample/ground-truth/refuge-sample", folder / "phase")
    if name == "fuse":
        shutil.copytree(folder / "teams", folder / "annotations" / "readers")
        shutil.copy(folder / "phase" / "phase.toml", folder / "annotations")
        rows = (folder / "phase" / "cases.csv").read_text().splitlines()
        few = "".join(",".join(row.split(",")[:5]) + "\n" for row in rows)
        (folder / "annotations" / "cases.csv").write_text(few)


def test_no_command_warns(tmp_path):
    skip_without("samples", "starter")  # the others work on what these write
    for line in LINES:
        if gone_of(f"evaluation {line}"):
            continue
        prepare(line.split()[0], tmp_path)
        done = run(*line.split(), cwd=tmp_path, server=strict_server())
        assert done.returncode == 0, line + done.stdout + done.stderr
        # What is raised where nobody can catch it is only printed.
        assert not re.search("Warning|Exception ignored", done.stderr), line + done.stderr

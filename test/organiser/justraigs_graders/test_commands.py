"""`fuse graders` as a process."""

import csv

from test.organiser.justraigs_graders.test_graders import graders
from test.started import run


def test_limits_of_graders(tmp_path):
    (tmp_path / "phase.toml").write_text(
        'challenge = "justraigs"\nname = "eyes"\ntitle = "Eyes"\nsubmission = "archive"\n'
    )
    for limit, flagged in (("0.5", set()), ("0.51", {"G2"})):
        report = tmp_path / limit
        places = ("--phase", tmp_path / "phase.toml", "--output", tmp_path / f"p{limit}", "--report", report)
        done = run("fuse", "graders", graders(tmp_path), *places, "--min-sensitivity", limit)
        assert (done.returncode, done.stderr) == (0, "")
        with (report / "graders.csv").open(newline="") as file:
            assert {row["grader"] for row in csv.DictReader(file) if row["flagged"] == "True"} == flagged
    done = run("fuse", "graders", graders(tmp_path), *places, "--min-specificity", "95")
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected a number from 0 to 1, found '95'" in done.stderr

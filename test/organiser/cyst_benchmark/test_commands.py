"""`fuse cysts` as a process."""

from evaluation.organiser.cyst_benchmark.fuse_cysts import STEPS
from test.organiser.cyst_benchmark.annotators import cyst_annotators
from test.started import run


def test_an_organiser_stops_to_look_and_goes_on(tmp_path):
    given = cyst_annotators(tmp_path / "in", volumes=3, annotated=False)
    places = (given.folder, "--report", tmp_path / "work", "--output", tmp_path / "phase")
    done = run("fuse", "cysts", *places, "--until", "assignment")
    assert done.returncode == 0
    # The supervisor of so few volumes gives confidences out of order.
    assert {line.split(" ")[1] for line in done.stderr.splitlines()} == {"transform:"}
    assert "have one value" in done.stderr
    written = {path.name for path in (tmp_path / "work").iterdir()}
    assert {"report.json", "assignment.csv", "workload.csv"} <= written
    assert not (tmp_path / "phase").exists()
    # Nobody has annotated yet.
    done = run("fuse", "cysts", *places, "--step", "combination")
    assert done.returncode == 1
    assert "is missing; " in done.stderr
    cyst_annotators(tmp_path / "in", volumes=3)
    done = run("fuse", "cysts", *places, "--step", STEPS[-1])
    assert done.returncode == 0
    # One annotator alone marked level 2, where the others marked 3 or nothing.
    assert done.stderr.startswith("warning: combination: level 2 is lost")
    assert run("seal", tmp_path / "phase").returncode == 0


def test_the_combination_needs_a_folder(tmp_path):
    done = run("fuse", "cysts", tmp_path, "--report", tmp_path / "work")
    assert done.returncode == 1
    assert "--output" in done.stderr

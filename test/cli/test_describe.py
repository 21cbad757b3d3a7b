"""`describe` as a process."""

import csv
import json

from test.phases import refuge_phase
from test.started import run


def test_a_phase_is_described_and_written(tmp_path):
    phase = refuge_phase(tmp_path / "phase", 12, columns={"age": range(40, 52)}, sealed=False)
    done = run("describe", phase, "--output", tmp_path / "data")
    assert (done.returncode, done.stderr) == (0, "")
    assert "age" in done.stdout
    assert "By glaucoma" in done.stdout
    written = [tmp_path / "data" / name for name in ("description.json", "tests.csv", "description.tex")]
    assert [str(path) in done.stdout for path in written] == [True] * 3
    assert json.loads(written[0].read_text(encoding="ascii"))["cases"] == [f"V{i:04d}" for i in range(1, 13)]
    (age,) = (
        row
        for row in csv.DictReader(written[1].read_text(encoding="utf-8").splitlines())
        if row["quantity"] == "age"
    )
    # The first six are glaucomatous and younger: 2 of the C(12, 6) = 924 orders.
    assert (age["first"], age["second"], float(age["p_value"])) == ("0", "1", round(2 / 924, 14))


def test_faults_are_told_before_anything_is_read(tmp_path):
    phase = refuge_phase(tmp_path / "phase", 4)
    done = run("describe", phase, "--alpha", "2", "--output", tmp_path / "data")
    assert (done.returncode, done.stderr) == (1, "--alpha: expected a number between 0 and 1, found 2\n")
    done = run("describe", phase, "--by", "camera")
    assert done.returncode == 1
    assert done.stderr.startswith("--by camera: is not a column of cases.csv")
    assert not (tmp_path / "data").exists()

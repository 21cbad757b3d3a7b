"""`graders` and `fuse graders` as processes."""

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


def test_an_exam_and_pairs_of_those_who_passed(tmp_path):
    answers, images = tmp_path / "answers.csv", tmp_path / "images.csv"
    answers.write_text("name,final_label,ann,bo,cy\na,RG,RG,NRG,RG\nb,NRG,NRG,NRG,NRG\n")
    images.write_text("name\n" + "".join(f"E{number}\n" for number in range(5)))
    done = run("graders", "exam", answers, "--output", tmp_path / "exam.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'exam.csv'}: 2 of 3 passed\n"
    lenient = run("graders", "exam", answers, "--output", tmp_path / "x.csv", "--min-sensitivity", "0")
    assert lenient.stdout == f"{tmp_path / 'x.csv'}: 3 of 3 passed\n"
    options = ("--graders", tmp_path / "exam.csv", "--output", tmp_path / "pairs.csv", "--block", "2")
    done = run("graders", "pairs", images, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'pairs.csv'}: pairs for 3 blocks\n"
    with (tmp_path / "pairs.csv").open(newline="") as file:
        assert all({row["Grader G1"], row["Grader G2"]} == {"ann", "cy"} for row in csv.DictReader(file))
    answers.write_text("name,final_label,ann\na,RG,yes\n")
    done = run("graders", "exam", answers, "--output", tmp_path / "y.csv")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "nothing was written"
    assert not (tmp_path / "y.csv").exists()

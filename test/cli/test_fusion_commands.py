"""`fuse` and `ensemble` as processes."""

import csv

import pytest

from evaluation.organiser.cyst_benchmark.steps import STEPS
from test.challenges.justraigs.test_graders import graders, mapping
from test.organiser.annotators.people import cyst_annotators, seven_graders
from test.phases import refuge_phase, refuge_submission
from test.started import run


def test_annotators(tmp_path):
    given = seven_graders(tmp_path / "in", cases=3)
    done = run("fuse", "annotators", given.folder, "--output", tmp_path / "phase", "--method", "staple")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'phase'}\n{tmp_path / 'phase-report'}\n"
    assert (tmp_path / "phase-report" / "report.json").exists()
    assert run("seal", tmp_path / "phase").returncode == 0


def test_faults_go_to_stderr_and_nothing_is_written(tmp_path):
    given = seven_graders(tmp_path / "in", cases=2)
    (given.folder / "readers" / "g1" / "segmentation" / "V0001.png").write_bytes(b"x")
    done = run("fuse", "annotators", given.folder, "--output", tmp_path / "phase")
    assert (done.returncode, done.stdout) == (1, "")
    first, last = done.stderr.splitlines()
    assert first.startswith("g1: segmentation/V0001.png: expected")
    assert last == "nothing was written"
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_graders(tmp_path):
    (tmp_path / "phase.toml").write_text(
        'challenge = "justraigs"\nname = "eyes"\ntitle = "Eyes"\nsubmission = "algorithm"\n'
    )
    table = graders(tmp_path)
    places = ("--mapping", mapping(tmp_path), "--phase", tmp_path / "phase.toml", "--output", tmp_path / "p")
    done = run("fuse", "graders", table, *places, "--report", tmp_path / "r")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == ["cases.csv", "phase.toml"]
    assert (tmp_path / "r" / "regrade.csv").exists()


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


def test_an_organiser_stops_to_look_and_goes_on(tmp_path):
    given = cyst_annotators(tmp_path / "in", volumes=3, annotated=False)
    places = (given.folder, "--report", tmp_path / "work", "--output", tmp_path / "phase")
    done = run("fuse", "cysts", *places, "--until", "assignment")
    assert done.returncode == 0
    # The supervisor of so few volumes gives confidences out of order.
    assert {line.split(" ")[1] for line in done.stderr.splitlines()} == {"transform:"}
    assert "have one value" in done.stderr
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == [
        "accuracy.csv",
        "accuracy_by_group.csv",
        "assignment.csv",
        "combinations.csv",
        "distinctions.csv",
        "distributions.csv",
        "histograms.csv",
        "interval_effect.csv",
        "intervals.csv",
        "levels.csv",
        "partition.csv",
        "report.json",
        "scanners.csv",
        "transformed.csv",
        "transforms.csv",
        "workload.csv",
    ]
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


@pytest.mark.parametrize("what", ["annotators", "graders", "cysts"])
def test_help_says_what_is_read(what):
    done = run("fuse", what, "--help")
    assert done.returncode == 0
    assert {"annotators": "dropped.csv", "graders": "regrade.csv", "cysts": "run1|run2"}[what] in done.stdout


def test_ensemble(tmp_path):
    phase = refuge_phase(tmp_path / "phase", sealed=False)
    teams = [refuge_submission(tmp_path / f"team-{name}") for name in "abc"]
    done = run(
        "ensemble", *teams, "--ground-truth", phase, "--output", tmp_path / "e", "--tasks", "segmentation"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 submissions, segmentation" in done.stdout
    assert [path.name for path in (tmp_path / "e").iterdir()] == ["segmentation"]


def test_an_ensemble_of_the_first_of_a_board_and_its_gain(tmp_path):
    phase = refuge_phase(tmp_path / "phase")
    teams = [refuge_submission(tmp_path / f"team-{name}") for name in "abc"]
    (tmp_path / "leaderboard.csv").write_text(
        "team,overall place\nteam-a,3\nteam-b,1\nteam-c,2\n", encoding="utf-8"
    )
    places = ("--ground-truth", phase, "--output", tmp_path / "e", "--tasks", "segmentation")
    board = ("--top", 2, "--leaderboard", tmp_path / "leaderboard.csv")
    done = run("ensemble", *teams, *places, *board, "--report", tmp_path / "r", "--gain")
    assert (done.returncode, done.stderr) == (0, "")
    first, *_, last = done.stdout.splitlines()
    assert first == "the first 2 by overall place: team-b, team-c"
    # All three are the same, so that nothing is gained.
    assert "segmentation.dice_cup: 1.0000, team-b 1.0000: gain +0.0000, p = 1 after Holm" in done.stdout
    assert last == str(tmp_path / "r")
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "agreement.csv",
        "disagreement.csv",
        "gain-cases.csv",
        "gain-disagreement.csv",
        "gain.csv",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["team-a", "team-b", "--gain"], "--gain: expected --report FOLDER"),
        (["team-a", "team-b", "--top", "2"], "--top, --leaderboard: expected both or neither"),
        (["team-a"], "at least two"),
        (["team-a", "team-a"], "given more than once"),
        (["team-a", "nobody"], "nobody: "),
        (["team-a", "team-b", "--tasks", "boxes"], "boxes"),
    ],
)
def test_faults_of_an_ensemble(tmp_path, arguments, message):
    phase = refuge_phase(tmp_path / "phase", sealed=False)
    for name in "ab":
        refuge_submission(tmp_path / f"team-{name}")
    teams = [tmp_path / name if name[:4] in ("team", "nobo") else name for name in arguments]
    done = run("ensemble", *teams, "--ground-truth", phase, "--output", tmp_path / "e")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "e").exists()

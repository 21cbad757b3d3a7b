"""The package as a library, in a program that has its own signals, threads and descriptors."""

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import evaluation
from evaluation import library
from evaluation.core.fault import Fault, FaultKind
from test.faults import faulted
from test.in_process import run_here
from test.phases import imperfect, refuge_phase, refuge_submission
from test.repository import REPOSITORY
from test.started import run

SUBMISSION = REPOSITORY / "test" / "input" / "refuge-onsite"
CASES = 12


@pytest.fixture(scope="module")
def phase(tmp_path_factory) -> Path:
    columns = {"eye": ["left", "right"] * (CASES // 2)}
    keys = {"interval_minimum": 2}
    return refuge_phase(tmp_path_factory.mktemp("p") / "tiny", CASES, keys=keys, columns=columns)


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Path:
    return refuge_submission(tmp_path_factory.mktemp("s") / "given", CASES, change=imperfect)


@pytest.fixture(scope="module")
def result(phase, given) -> evaluation.Evaluation:
    return evaluation.evaluate(phase, given)


@pytest.fixture
def submission(given, tmp_path) -> Path:
    """Return a copy that a test may spoil."""
    return Path(shutil.copytree(given, tmp_path / "submission"))


@pytest.fixture
def here(monkeypatch) -> None:
    """Run the functions in this process: the result, a rejection and a whole program have another one."""
    monkeypatch.setattr(library, "run_isolated", run_here)


def test_the_result_is_that_of_the_run(phase, given, result, tmp_path):
    shutil.copytree(given, tmp_path / "submissions" / "team")
    arguments = ("--each", tmp_path / "submissions", "--ground-truth", phase, "--workers", 0)
    assert run("evaluate", *arguments, "--output", tmp_path / "each").returncode == 0
    assert [path.name for path in result.write(tmp_path / "own")] == ["metrics.json", "cases.json"]
    for name in ("metrics.json", "cases.json"):
        assert (tmp_path / "own" / name).read_bytes() == (tmp_path / "each" / "team" / name).read_bytes()
    assert result.to_dict() == json.loads((tmp_path / "own" / "metrics.json").read_bytes())


def test_values_of_cases_are_those_that_the_figures_are_made_of(result):
    figures, cases = result.figures(), result.cases()
    segmentation = result.cases("segmentation")
    assert list(cases.index) == sorted(cases.index)
    assert len(cases) == len(segmentation) == CASES
    for name in ("dice_cup", "dice_disc", "vertical_cup_to_disc_ratio_error"):
        assert np.isclose(segmentation[name].mean(), figures.loc[("segmentation", name), "value"])
        assert cases[f"segmentation.{name}"].equals(segmentation[name])
        deviation = figures.loc[("segmentation", name), "standard_deviation"]
        assert np.isclose(segmentation[name].std(ddof=1), deviation)
    assert set(cases["table.eye"]) == {"left", "right"}
    assert not cases["worst"].any()
    assert cases["failure"].isna().all()
    assert figures.loc[("classification", "auc")].isna().to_dict() == {
        "value": False,
        "lower": False,
        "upper": False,
        "unseen_lower": False,
        "unseen_upper": False,
        "standard_deviation": True,
    }
    with pytest.raises(KeyError):
        result.cases("detection")


def test_a_rejection_is_raised_with_every_fault(phase, submission, tmp_path):
    for path in sorted((submission / "segmentation").iterdir())[:3]:
        path.unlink()
    with pytest.raises(evaluation.SubmissionRejected) as caught:
        evaluation.evaluate(phase, submission)
    places = ("--ground-truth", phase, "--input", submission, "--output", tmp_path / "o")
    printed = run("evaluate", *places, "--workers", 0)
    assert f"{caught.value}\n" == printed.stderr
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.faults) == (str(caught.value), caught.value.faults)
    checked = evaluation.check(phase, submission, workers=0)
    assert checked.faults == caught.value.faults
    assert not checked.passed
    assert len(checked.to_dict()["faults"]) == len(checked.to_frame()) == len(caught.value.to_frame()) == 3
    assert set(checked.to_frame()["kind"]) == {"missing"}


def test_a_zip_a_form_and_a_name_are_taken(here, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "s"), "zip", SUBMISSION.parent, SUBMISSION.name)
    form = tmp_path / "form.json"
    assert run("form", "refuge-onsite", "--output", form).returncode == 0
    for one in (str(form), form, "refuge-onsite"):
        checked = evaluation.check(one, archive, workers=0)
        assert checked.passed
        assert checked.to_dict() == {"passed": True, "faults": [], "notices": []}
    (tmp_path / "broken.zip").write_bytes(Path(archive).read_bytes()[:-30])
    checked = evaluation.check(form, tmp_path / "broken.zip", workers=0)
    assert [fault.kind.value for fault in checked.faults] == ["unreadable"]


def test_what_an_organiser_must_mend_is_a_phase_error(here, phase, given, tmp_path):
    with faulted(evaluation.PhaseError, "refuge", "neither"):
        evaluation.evaluate("refuge", given)
    with faulted(evaluation.PhaseError, "nothing.zip"):
        evaluation.check(phase, tmp_path / "nothing.zip", workers=0)
    unsealed = Path(shutil.copytree(phase, tmp_path / "phase"))
    (unsealed / "manifest.json").unlink()
    with faulted(evaluation.PhaseError, "manifest.json"):
        evaluation.evaluate(unsealed, given, workers=0)
    sealed = evaluation.seal(unsealed)
    assert sealed.folder == str(unsealed)
    again = evaluation.evaluate(unsealed, given, workers=0)
    assert again.metrics.phase.manifest == sealed.digest


def test_rank_is_that_of_the_run(here, phase, submission, result, tmp_path):
    first, second = sorted((submission / "segmentation").iterdir())[:2]
    shutil.copy(first, second)
    result.write(tmp_path / "each" / "a")
    evaluation.evaluate(phase, submission, workers=0).write(tmp_path / "each" / "b")
    ranking = evaluation.rank(tmp_path / "each")
    assert run("rank", tmp_path / "each", "--output", tmp_path / "of-command").returncode == 0
    assert ranking.to_dict() == json.loads((tmp_path / "of-command" / "leaderboard.json").read_bytes())
    ranking.write(tmp_path / "own")
    for name in ("leaderboard.csv", "leaderboard.json"):
        assert (tmp_path / "own" / name).read_bytes() == (tmp_path / "of-command" / name).read_bytes()
    teams = ranking.teams()
    assert list(teams.index) == ["a", "b"]
    assert teams.loc["a", "segmentation.dice_cup"] > teams.loc["b", "segmentation.dice_cup"]
    with pytest.raises(KeyError):
        ranking.teams("onsite")
    (tmp_path / "empty").mkdir()
    with pytest.raises(evaluation.PhaseError):
        evaluation.rank(tmp_path / "empty")


PROGRAM = """
import gc, json, multiprocessing, os, signal, sys, tempfile, threading
import evaluation
from evaluation.core.fault import Fault, FaultKind

def descriptors():
    found = {}
    for fd in os.listdir("/proc/self/fd"):
        try:
            found[fd] = os.readlink(f"/proc/self/fd/{fd}")
        except FileNotFoundError:
            pass  # the one through which they were listed
    return found

def state():
    tasks = [open(f"/proc/self/task/{task}/children").read() for task in os.listdir("/proc/self/task")]
    return {
        "signals": {number: str(signal.getsignal(number)) for number in signal.valid_signals()},
        "environment": dict(os.environ),
        "descriptors": descriptors(),
        "inheritable": [os.get_inheritable(fd) for fd in (0, 1, 2)],
        "start method": multiprocessing.get_start_method(allow_none=True),
        "threads": [thread.name for thread in threading.enumerate()],
        "children": "".join(tasks).split(),
        "folders": [os.getcwd(), tempfile.gettempdir()],
        "collector": [gc.get_threshold(), gc.isenabled()],
        "hooks": [str(sys.excepthook), str(threading.excepthook), sys.getrecursionlimit()],
        "path": list(sys.path),
    }

phase, submission, results = sys.argv[1:]

def use():
    evaluation.seal(phase)
    evaluation.check(phase, submission)
    try:
        evaluation.evaluate(phase, os.path.join(submission, "segmentation"))
    except evaluation.SubmissionRejected:
        pass
    evaluation.evaluate(phase, submission).write(os.path.join(results, "team"))
    evaluation.rank(results).teams()

# What pandas and its like set up when they are imported is not ours to answer for.
import pandas, scipy.stats
before = after = None
def whole():
    global before, after
    before = state()
    use()
    after = state()
thread = threading.Thread(target=whole, name="cell")
thread.start()
thread.join()
print(json.dumps([before, after]))
"""


def test_nothing_of_the_callers_process_changes(phase, given, tmp_path):
    """As in a cell of a notebook: another thread than the main one, and a main program without a guard."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, phase, given, tmp_path],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    before, after = json.loads(done.stdout)
    assert after == before
    assert "cell" in before["threads"]
    assert before["children"] == []


def test_where_cases_cannot_be_isolated_that_is_said(phase, given, monkeypatch):
    monkeypatch.setattr("evaluation.platform.machine.CAN_ISOLATE", False)
    with pytest.warns(RuntimeWarning, match="cases are run one by one"):
        assert evaluation.check(phase, given).passed


def test_the_function_keeps_its_name_beside_the_module():
    function = evaluation.evaluate
    from evaluation.evaluate import Rejection

    assert evaluation.evaluate is function
    assert sys.modules["evaluation.evaluate"].Rejection is Rejection
    assert dir(evaluation) == sorted(evaluation.__all__)
    for name in evaluation.__all__:
        assert getattr(evaluation, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        evaluation.evalute  # noqa: B018


def test_what_a_notebook_shows(here, phase, given, result, tmp_path):
    # The first six cases are positive; a likelihood is 5 × number modulo 13.
    risks = [number * 5 % 13 for number in range(1, 13)]
    auc = sum(one > other for one in risks[:6] for other in risks[6:]) / 36
    assert repr(result).startswith(
        f"<Evaluation of refuge-tiny: 12 of 12 cases scored; classification.auc {auc:.4f}, "
    )
    assert f"<td>{auc:.4f}</td>" in result._repr_html_()
    assert repr(evaluation.check(phase, given, workers=0)) == "<CheckResult: no faults>"
    faults = [Fault(FaultKind.MISSING, f"<i>{number}.png", "a file", "none") for number in range(120)]
    checked = evaluation.CheckResult(tuple(faults))
    assert "<b>missing (120)</b><ul><li>&lt;i&gt;0.png" in checked._repr_html_()
    assert "… and 100 more" in checked._repr_html_()
    result.write(tmp_path / "results" / "<i>")
    ranking = evaluation.rank(tmp_path / "results")
    assert repr(ranking) == "<Ranking of refuge-tiny: <i>>"
    assert "&lt;i&gt;" in ranking._repr_html_()
    sealed = evaluation.seal(phase)
    assert sealed.digest in sealed._repr_html_()
    report = evaluation.report_submission(phase, results=result)
    assert report._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')

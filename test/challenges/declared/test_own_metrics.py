"""Metrics of a phase's own, from `metrics.py` to the leaderboard, started as users do."""

import json
import sys

import numpy as np
import pytest
import SimpleITK

import evaluation
from test import started
from test.challenges.declared.phases import LIKELIHOOD, declared_phase, figures_of, write_table

OF_LIKELIHOOD = f"{LIKELIHOOD}[tasks.screening.metrics]\n"
CLASSES = ["RG", "NRG", "U", "RG", "NRG", "NRG"]
FOUND = [0.9, 0.2, 0.5, 0.4, 0.5, 0.1]
NAMES = [f"C{number}" for number in range(len(CLASSES))]
CASES = {"name": NAMES, "class": CLASSES}
ANSWERS = {"case": NAMES, "likelihood": FOUND}

MASKS = """\
[fields.organs]
kind = "label_map"
dimensions = 2
has_spacing = true
extensions = [".mha"]
labels = { 1 = "liver", 4 = "spleen" }
"""


def run(*arguments):
    done = started.run(*arguments)
    return done.returncode, done.stdout + done.stderr


def with_metric(folder, code, metrics):
    phase = declared_phase(folder / "phase", OF_LIKELIHOOD + metrics, CASES)
    (phase / "metrics.py").write_text(code, encoding="utf-8")
    return phase


def masks(folder, metrics, code, count=12):
    """Write a phase of images and a submission, and return both and all pairs of masks."""
    generator = np.random.default_rng(0)
    names = [f"I{number:02d}" for number in range(count)]
    table = {"name": names, "width": [9] * count, "height": [7] * count, "spacing_mm": ["0.5 2"] * count}
    phase = declared_phase(folder / "phase", f"{MASKS}[tasks.organs.metrics]\n{metrics}", table)
    (phase / "metrics.py").write_text(code, encoding="utf-8")
    pairs = []
    for name in names:
        pairs.append(generator.choice([0, 1, 4], (2, 7, 9)).astype(np.uint8))
        for root, values in zip((phase, folder / "submission"), pairs[-1], strict=True):
            (root / "organs").mkdir(parents=True, exist_ok=True)
            image = SimpleITK.GetImageFromArray(values)
            image.SetSpacing((0.5, 2.0))
            SimpleITK.WriteImage(image, str(root / "organs" / f"{name}.mha"))
    return phase, folder / "submission", pairs


AREA = '''
import sys
from helper import area
from evaluation.metrics import dice


def area_error(prediction, reference, *, spacing_mm, case, scale, offset=0):
    """Difference of the areas of the liver."""
    assert case[0] == "I" and spacing_mm == (2.0, 0.5) and prediction.shape == (7, 9)
    return (area(prediction, spacing_mm) - area(reference, spacing_mm)) * scale + offset


def shares(prediction, reference):
    """Share of each label that is found."""
    return [(prediction[reference == label] == label).mean() for label in (1, 4)]


def _unused(prediction):
    return None
'''
HELPER = """
import numpy as np


def area(values, spacing):
    return np.count_nonzero(values == 1) * float(np.prod(spacing))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="readers are confined on Linux")
def test_a_phase_is_sealed_rehearsed_scored_in_confined_processes_ranked_and_reported(tmp_path):
    metrics = """\
area_error = { best = 0, worst = 63, unit = "mm²", scale = 1, over_cases = "root_mean_square" }
shares = { best = 1, worst = 0, per_label = true }
dice = {}
"""
    # Whoever runs the file writes down its number: neither readers nor the main process may.
    seen = tmp_path / "seen"
    seen.mkdir()
    note = f"import os\nopen('{seen}/' + str(os.getpid()), 'w').write(str(list(sys.argv)))\n"
    phase, submission, pairs = masks(tmp_path, metrics, AREA + note)
    (phase / "helper.py").write_text(HELPER)
    status, said = run("seal", phase)
    assert status == 0, said
    assert {"metrics.py", "helper.py"} <= json.loads((phase / "manifest.json").read_text())["files"].keys()
    status, said = run("rehearse", phase)
    assert (status, "area_error" in said) == (0, True), said
    for path in seen.iterdir():
        path.unlink()

    results = tmp_path / "results"
    for team in ("one", "two"):
        given = submission if team == "one" else phase
        status, said = run(
            *("evaluate", "--ground-truth", phase, "--input", given / "organs"),
            *("--output", results / team, "--cases", results / team / "cases.json", "--workers", 2),
        )
        assert status == 0, said
    assert 2 <= len(list(seen.iterdir())) <= 4  # at most two scorers of each evaluation, and no reader

    figures = json.loads((results / "one" / "metrics.json").read_text())["aggregates"]["organs"]
    errors = [np.count_nonzero(made == 1) - np.count_nonzero(true == 1) for true, made in pairs]
    assert figures["area_error"]["value"] == pytest.approx(np.sqrt(np.mean(np.square(errors))), abs=5e-4)
    found = [[(made[true == label] == label).mean() for label in (1, 4)] for true, made in pairs]
    assert figures["shares"]["value"] == pytest.approx(np.mean(found), abs=5e-4)
    liver, spleen = np.mean(found, axis=0)
    assert figures["shares_liver"]["value"] == pytest.approx(liver, abs=5e-4)
    assert figures["shares_spleen"]["value"] == pytest.approx(spleen, abs=5e-4)
    for name in ("area_error", "shares_liver"):
        interval = figures[name]["confidence_interval"]
        assert interval["lower"] < figures[name]["value"] < interval["upper"]

    status, said = run("rank", results, "--output", tmp_path / "ranked")
    assert status == 0, said
    board = json.loads((tmp_path / "ranked" / "leaderboard.json").read_text())
    places = {team["team"]: team["boards"]["overall"]["place"] for team in board["phases"][0]["teams"]}
    assert places == {"two": 1, "one": 2}
    page = tmp_path / "report.html"
    status, said = run(
        *("report", "submission", "--ground-truth", phase, "--input", submission, "--output", page)
    )
    assert status == 0, said
    assert "Area error" in page.read_text(encoding="utf-8")

    # Participants check with the form alone.
    assert run("form", phase, "--output", tmp_path / "form.json")[0] == 0
    status, said = run("check", "--form", tmp_path / "form.json", submission)
    assert (status, "No faults" in said) == (0, True), said

    # What is sealed is scored.
    (phase / "helper.py").write_text(HELPER.replace("== 1", "== 4"))
    status, said = run(
        "evaluate", "--ground-truth", phase, "--input", submission, "--output", tmp_path / "no"
    )
    assert (status, "helper.py: differs from the sealed file" in said) == (1, True), said


def test_a_part_of_a_phase_has_its_functions(tmp_path):
    phase, _, _ = masks(tmp_path, "share = { best = 1, worst = 0 }", SHARE)
    assert run("seal", phase)[0] == 0
    status, said = run("subset", phase, "--output", tmp_path / "part")
    assert status == 0, said
    assert (tmp_path / "part" / "metrics.py").read_text() == SHARE


SHARE = '''
def share(prediction, reference):
    """Share of pixels that are right."""
    return (prediction == reference).mean()
'''

BALANCE = '''
import numpy as np


def balance(prediction, reference, *, threshold):
    """Mean of sensitivity and specificity."""
    answers = prediction >= threshold
    return (answers[reference == 1].mean() + (1 - answers[reference == 0]).mean()) / 2
'''


def test_a_figure_of_all_cases_gets_their_columns(tmp_path):
    metrics = 'balance = { best = 1, worst = 0, threshold = 0.45, over_cases = "pooled" }\nauc = {}'
    phase = with_metric(tmp_path, BALANCE, metrics)
    figures = figures_of(phase, tmp_path, ANSWERS)
    assert figures["balance"] == pytest.approx((1 / 2 + 2 / 3) / 2, abs=5e-5)  # the case U does not enter

    (phase / "phase.toml").write_text((phase / "phase.toml").read_text() + "\n", encoding="utf-8")
    text = (
        (phase / "phase.toml")
        .read_text()
        .replace('name = "declared"', 'name = "declared"\nmissing = "worst"')
    )
    (phase / "phase.toml").write_text(text, encoding="utf-8")
    found = {key: [of[place] for place in (1, 2, 3, 4, 5)] for key, of in ANSWERS.items()}
    assert figures_of(phase, tmp_path, found)["balance"] == pytest.approx((0 + 2 / 3) / 2, abs=5e-5)


def test_a_case_enters_by_its_reference_alone(tmp_path):
    code = "def inverse(prediction, reference):\n    return float('nan') if reference else prediction / 2\n"
    phase = with_metric(tmp_path, code, "inverse = { best = 0, worst = 1 }")
    # Neither a class that is excluded nor the positive ones enter.
    assert figures_of(phase, tmp_path, ANSWERS)["inverse"] == pytest.approx((0.1 + 0.25 + 0.05) / 3, abs=5e-5)

    code = "def lost(prediction, reference):\n    return float('nan') if prediction == 0.2 else 0.5\n"
    phase = with_metric(tmp_path, code, "lost = { best = 0, worst = 1 }")
    # An undefined figure that the reference does not announce is the worst one.
    assert figures_of(phase, tmp_path, ANSWERS)["lost"] == pytest.approx((4 * 0.5 + 1) / 5, abs=5e-5)


WHERE = "metrics.py, line 2"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1e-9 / (prediction - 0.9)", f"case C0: {WHERE}: ZeroDivisionError: float division by zero"),
        ("return [][int(prediction > 2)]", f"{WHERE}: IndexError: list index out of range (and in "),
        ("return {'a': 1}", "metrics.py, line 1: own: expected a number, found a dictionary"),
        ("return 'good'", "metrics.py, line 1: own: expected a number, found the text 'good'"),
        ("return [1, 2]", "found 2 values; one for each label needs per_label = true"),
        ("return 1.5", "metrics.py, line 1: own: expected at most best = 1, found 1.5 (and in "),
        ("import nowhere", f"{WHERE}: ModuleNotFoundError: No module named 'nowhere'"),
        ("pass", "own: expected a number, found None"),
    ],
)
def test_a_fault_of_a_function_is_told_once(tmp_path, body, message):
    code = f"def own(prediction, reference):\n    {body}\n"
    phase = with_metric(tmp_path, code, "own = { best = 1, worst = 0 }")
    status, said = run("seal", phase)
    if status == 0:  # what the reference itself does not meet, a prediction does
        write_table(tmp_path / "submission" / "predictions.csv", ANSWERS)
        places = ("--ground-truth", phase, "--input", tmp_path / "submission", "--output", tmp_path / "out")
        status, said = run("evaluate", *places, "--workers", 0)
    assert status != 0
    assert said.count("metrics.py, line") == 1, said
    assert message in said


@pytest.mark.parametrize(
    ("code", "metric", "message"),
    [
        ("def own(prediction):\n    return 1\n", "", "line 1: expected own(prediction, reference, …)"),
        (
            "def own(prediction, reference)\n",
            "",
            "metrics.py, line 1: cannot be run: SyntaxError: expected ':'",
        ),
        (
            "def auc(prediction, reference):\n    return 1\n",
            "",
            "'auc' is a metric of this package: expected",
        ),
        ("def own(prediction, reference, unit):\n    return 1\n", "", "'unit' is a key of every metric"),
        (
            "def own(prediction, reference, limit):\n    return 1\n",
            "",
            "tasks.screening.metrics.own.limit is missing",
        ),
        ("def own(a, b):\n    return 1\n", "limit = 3", "unknown key tasks.screening.metrics.own.limit"),
        (
            "def own(a, b):\n    return 1\n",
            'worst = "bad"',
            "metrics.own.worst: input should be a valid number",
        ),
        ("def own(a, b):\n    return 1\n", "worst = 1", "expected a best and a worst figure that differ"),
        ("def own(a, b, spacing_mm):\n    return 1\n", "", "spacing_mm: expected a field of images"),
        ("def own(a, b, case):\n    return 1\n", 'over_cases = "pooled"', "case is of one case"),
        ("def own(a, b):\n    return 1\n", "per_label = true", "expected a field with labels or classes"),
        ("def other(a, b):\n    return 1\n", "", "known are other, "),
        ("raise ValueError('no')\ndef own(a, b): return 1\n", "", "line 1: cannot be run: ValueError: no"),
    ],
)
def test_what_does_not_fit_is_told_when_a_phase_is_sealed(tmp_path, code, metric, message):
    keys = ["best = 1", *(["worst = 0"] if "worst" not in metric else []), *([metric] if metric else [])]
    phase = with_metric(tmp_path, code, f"own = {{ {', '.join(keys)} }}")
    status, said = run("seal", phase)
    assert (status, said.count(message)) == (1, 1), said


def test_functions_are_described_without_being_run(tmp_path):
    """Whoever only reads a phase, as those who read submissions, runs no code of it."""
    code = f"open({str(tmp_path / 'run')!r}, 'w')\ndef own(a, b): return 1\n"
    phase = with_metric(tmp_path, code, "own = { best = 1, worst = 0 }")
    from evaluation.phase.registry import read_configuration

    tasks = read_configuration(phase).tasks
    assert [metric.name for metric in tasks[0].metrics] == ["own"]
    assert not (tmp_path / "run").exists()


VALUES = {
    "decision": ("", {"x": [1, 0]}, {"x": [1, 1]}, "{prediction, reference} <= {0, 1}"),
    "class": (
        "classes = ['a', 'b']",
        {"x": ["a", "b"]},
        {"x": ["a", "a"]},
        "{prediction, reference} <= {'a', 'b'}",
    ),
    "flags": (
        "classes = ['a', 'b']",
        {"a": [1, 0], "b": ["", 1]},
        {"a": [1, 0], "b": [0, 1]},
        "prediction.shape == (2,)",
    ),
    "class_probabilities": (
        "classes = ['a', 'b']",
        {"x": ["a", "b"]},
        {"a": [0.2, 0.5], "b": [0.8, 0.5]},
        "prediction.shape == (2,) and list(reference) in ([1, 0], [0, 1]) and prediction.sum() == 1",
    ),
    "point": (
        "dimensions = 2\nunit = 'pixels'",
        {"x_x": [1, 2], "x_y": [3, 4]},
        {"x": [1, 2], "y": [3, 4]},
        "list(prediction) in ([1, 3], [2, 4])",
    ),
}


@pytest.mark.parametrize("kind", VALUES)
def test_the_value_of_each_kind(tmp_path, kind):
    keys, reference, found, holds = VALUES[kind]
    tables = f'[fields.x]\nkind = "{kind}"\n{keys}\n[tasks.t.metrics]\nown = {{ best = 1, worst = 0 }}\n'
    cases = {"name": ["A", "B"], "width": [9, 9], "height": [9, 9], **reference}
    phase = declared_phase(tmp_path / "phase", tables, cases)
    code = f"def own(prediction, reference):\n    assert {holds}, (prediction, reference)\n    return 1\n"
    (phase / "metrics.py").write_text(code)
    assert figures_of(phase, tmp_path, {"case": ["A", "B"], **found}) == {"own": 1}


def test_objects_have_classes_and_probabilities(tmp_path):
    tables = """\
[fields.cells]
kind = "points"
dimensions = 2
unit = "pixels"
classes = ["round", "long"]
probability = true
[tasks.t.metrics]
own = { best = 1, worst = 0 }
"""
    phase = declared_phase(tmp_path / "phase", tables, {"name": ["A"], "width": [9], "height": [9]})
    write_table(
        phase / "cells.csv", {"case": ["A", "A"], "x": [1, 2], "y": [3, 4], "class": ["long", "round"]}
    )
    (phase / "metrics.py").write_text("""\
def own(prediction, reference, prediction_classes, prediction_probabilities, reference_classes):
    assert reference.tolist() == [[1, 3], [2, 4]] and reference_classes == ["long", "round"]
    if len(prediction) == 1:
        assert prediction.tolist() == [[5, 6]] and prediction_classes == ["round"]
        assert prediction_probabilities.tolist() == [0.25]
        return 0.5
    return 1
""")
    found = {"case": ["A"], "x": [5], "y": [6], "class": ["round"], "probability": [0.25]}
    assert figures_of(phase, tmp_path, found) == {"own": 0.5}


def test_an_image_has_the_functions(tmp_path):
    build = pytest.importorskip("evaluation.organiser.image.build")
    phase = with_metric(tmp_path, BALANCE, "balance = { best = 1, worst = 0, threshold = 0.5 }")
    files = dict(build._phase_files(phase, "ground-truth/declared"))
    assert files["ground-truth/declared/metrics.py"] == phase / "metrics.py"


def test_two_phases_of_one_process_keep_their_functions_apart(tmp_path):
    values = {}
    for name, value in (("one", 0.25), ("two", 0.75)):
        code = f"from part import VALUE\ndef own(a, b):\n    return VALUE\n# {name}\n"
        phase = with_metric(tmp_path / name, code, "own = { best = 1, worst = 0 }")
        (phase / "part.py").write_text(f"VALUE = {value}\n")
        values[name] = figures_of(phase, tmp_path / name, ANSWERS)["own"]
    assert values == {"one": 0.25, "two": 0.75}
    assert evaluation.seal(tmp_path / "one" / "phase")


def test_a_figure_of_all_cases_is_ranked_and_resampled_where_its_file_is_given(tmp_path):
    metrics = 'balance = { best = 1, worst = 0, threshold = 0.45, over_cases = "pooled" }'
    many = {"name": [f"C{number}" for number in range(48)], "class": ["RG", "NRG", "NRG"] * 16}
    phase = declared_phase(tmp_path / "phase", OF_LIKELIHOOD + metrics, many)
    (phase / "metrics.py").write_text(BALANCE, encoding="utf-8")
    assert run("seal", phase)[0] == 0
    for team, shift in (("one", 0.2), ("two", 0)):
        numbers = [(7 * number % 10) / 10 * (1 - shift) for number in range(48)]
        table = {"case": many["name"], "likelihood": numbers}
        write_table(tmp_path / team / "predictions.csv", table)
        place = tmp_path / "results" / team
        status, said = run(
            *("evaluate", "--ground-truth", phase, "--input", tmp_path / team, "--output", place),
            *("--cases", place / "cases.json", "--workers", 0),
        )
        assert status == 0, said
        figure = json.loads((place / "metrics.json").read_text())["aggregates"]["screening"]["balance"]
        assert figure["confidence_interval"]["lower"] < figure["value"]
    for given in ((), ("--ground-truth", phase)):
        status, said = run("rank", tmp_path / "results", "--output", tmp_path / "board", *given)
        assert status == 0, said
        board = json.loads((tmp_path / "board" / "leaderboard.json").read_text())["phases"][0]
        assert len(board["teams"]) == 2
        assert ("no_intervals" in board["metrics"]["screening.balance"]) == (not given)

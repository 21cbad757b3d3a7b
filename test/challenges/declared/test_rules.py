"""A declared challenge: from the tables of `phase.toml` to scores, and what is wrong with a declaration."""

import json
import subprocess
import sys
import tomllib
from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import evaluation
from evaluation.challenges import declared
from evaluation.challenges.declared import prepare
from evaluation.challenges.declared.declarable import FIELDS, METRICS, name_of, names_of
from evaluation.challenges.declared.names import names_in
from evaluation.core.fault import PhaseError
from evaluation.core.scheme import Method
from evaluation.phase.phase import load_phase
from evaluation.phase.registry import rules_of
from test.challenges.declared.phases import SCREENING, declared_phase, write_table
from test.repository import REPOSITORY

AGE = """\
[fields.likelihood]
kind = "number"
minimum = 0
maximum = 1
reference = "class"
positive = ["RG"]
negative = ["NRG"]
excluded = ["U"]

[fields.age]
kind = "number"
minimum = 0
maximum = 120
unit = "years"

[tasks.screening.metrics.early]
metric = "auc"
field = "likelihood"
title = "AUC of early glaucoma"

[tasks.patient.metrics.mean_absolute_error]
field = "age"

[ranking]
metrics = ["screening.early", "patient.mean_absolute_error"]
weights = { "screening.early" = 0.7, "patient.mean_absolute_error" = 0.3 }

[composites.total]
weights = { "screening.early" = 1, "patient.mean_absolute_error" = -0.01 }
constant = 1
"""


@pytest.fixture(scope="module")
def columns():
    random = np.random.default_rng(5)
    names = [f"eye{number:02d}" for number in range(30)]
    classes = np.array(["RG", "NRG", "U"])[np.r_[random.integers(0, 3, 27), 0, 1, 2]]
    ages = random.integers(20, 90, 30)
    return {
        "name": names,
        "class": classes.tolist(),
        "age": ages.tolist(),
        "likelihood": np.round(random.random(30), 2).tolist(),
        "guess": np.clip(ages + random.integers(-9, 9, 30), 0, 120).tolist(),
    }


def write_phase(folder, columns, tables=AGE, **arguments):
    cases = {key: columns[key] for key in ("name", "class", "age")}
    phase = declared_phase(folder / "phase", tables, cases, **arguments)
    evaluation.seal(phase)
    return phase


def test_a_submission_is_scored_as_declared(tmp_path, columns):
    phase = write_phase(tmp_path, columns)
    table = {"case": columns["name"], "likelihood": columns["likelihood"], "age": columns["guess"]}
    write_table(tmp_path / "submission" / "predictions.csv", table)
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=0).to_dict()

    classes = np.array(columns["class"])
    entering = classes != "U"
    auc = roc_auc_score((classes == "RG")[entering], np.array(columns["likelihood"])[entering])
    error = np.abs(np.array(columns["age"]) - columns["guess"]).mean()
    assert result["aggregates"]["screening"]["early"]["value"] == pytest.approx(auc, abs=5e-5)
    assert result["aggregates"]["patient"]["mean_absolute_error"]["value"] == pytest.approx(error, abs=5e-5)
    # Made of exact values and rounded once.
    assert result["ranking"]["composites"]["total"] == round(1 + auc - error / 100, 4)
    assert result["phase"]["challenge"] == "declared"


TWO_ERRORS = """\
value_digits = 1

[fields.width]
kind = "number"
reference = "width_mm"
minimum = 0
maximum = 1

[fields.height]
kind = "number"
reference = "height_mm"
minimum = 0
maximum = 1

[tasks.size.metrics.width]
metric = "mean_absolute_error"
field = "width"

[tasks.size.metrics.height]
metric = "mean_absolute_error"
field = "height"

[composites.both]
weights = { "size.width" = 1, "size.height" = 1 }
"""


def test_a_composite_is_rounded_once(tmp_path):
    """Errors of 3/7 each are 0.4, and their sum of 6/7 is 0.9, not 0.8."""
    names, none = [f"lesion{number}" for number in range(7)], [0] * 7
    phase = declared_phase(
        tmp_path / "phase", TWO_ERRORS, {"name": names, "width_mm": none, "height_mm": none}
    )
    evaluation.seal(phase)
    submitted = [1, 1, 1, 0, 0, 0, 0]
    table = {"case": names, "width": submitted, "height": submitted}
    write_table(tmp_path / "submission" / "predictions.csv", table)
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=0).to_dict()
    assert result["aggregates"]["size"]["width"]["value"] == 0.4
    assert result["ranking"]["composites"]["both"] == 0.9


def test_the_recorded_declaration_gives_the_same_rules(tmp_path, columns):
    phase = write_phase(tmp_path, columns)
    table = {"case": columns["name"], "likelihood": columns["likelihood"], "age": columns["guess"]}
    write_table(tmp_path / "submission" / "predictions.csv", table)
    recorded = evaluation.evaluate(phase, tmp_path / "submission", workers=0).to_dict()["phase"]["options"]
    rules = rules_of("declared", json.loads(json.dumps(recorded)))
    assert rules.challenge.components == ("screening.early", "patient.mean_absolute_error")
    assert rules.options.recorded() == recorded
    assert rules_of("declared", rules.options.form_options()).options == rules.options
    written = tomllib.loads(AGE)
    written["tasks"]["patient"]["metrics"]["mean_absolute_error"]["metric"] = "mean_absolute_error"
    weights = written["ranking"]["weights"]
    written["ranking"]["weights"] = {name: str(weight) for name, weight in weights.items()}  # exact
    assert json.loads(recorded["declaration"]) == written  # without a default of this version


def test_a_case_without_a_result_takes_the_worst_value(tmp_path, columns):
    phase = write_phase(tmp_path, columns, keys='missing = "worst"')
    kept = {
        "case": columns["name"][:-1],
        "likelihood": columns["likelihood"][:-1],
        "age": columns["age"][:-1],
    }
    write_table(tmp_path / "submission" / "predictions.csv", kept)
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=0).to_dict()
    # One of thirty ages is missing, and an error is at most 120 years.
    value = result["aggregates"]["patient"]["mean_absolute_error"]["value"]
    assert value == pytest.approx(120 / 30)


def test_fields_of_one_table_are_submitted_as_a_bare_csv(tmp_path, columns):
    """The platform hands over a bare csv as predictions.csv, whatever its name was."""
    tables = AGE.replace('kind = "number"', 'kind = "number"\ntable = "results.csv"')
    phase = write_phase(tmp_path, columns, tables)
    table = {"case": columns["name"], "likelihood": columns["likelihood"], "age": columns["guess"]}
    write_table(tmp_path / "submission" / "predictions.csv", table)
    assert evaluation.check(phase, tmp_path / "submission", workers=0).passed


@pytest.mark.parametrize("workers", [0, 1])
def test_a_submission_enters_one_of_several_optional_tasks_at_least(tmp_path, columns, workers):
    tables = AGE.replace('"number"\n', '"number"\ntable = "eyes.csv"\n', 1)
    tables = tables.replace(
        "[tasks.screening.", '[tasks.screening]\ntitle = "Early signs"\n\n[tasks.screening.'
    )
    tables = f"{tables.split('[ranking]')[0]}[ranking]\nmetrics = []\n"
    phase = write_phase(tmp_path, columns, tables, keys='optional_tasks = "all"')
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "readme.txt").touch()
    with pytest.raises(evaluation.SubmissionRejected) as rejected:
        evaluation.evaluate(phase, tmp_path / "submission", workers=workers)
    (fault,) = rejected.value.faults
    assert (fault.expected, fault.found) == ("at least one of Early signs, Patient", "none")
    write_table(
        tmp_path / "submission" / "predictions.csv", {"case": columns["name"], "age": columns["guess"]}
    )
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=workers).to_dict()
    assert result["aggregates"].keys() == {"patient"}


def faults_of(tmp_path, columns, tables):
    with pytest.raises(PhaseError) as error:
        write_phase(tmp_path, columns, tables)
    return list(error.value.problems)


FAULTS = {
    "an unknown metric": (
        SCREENING.replace('["auc"]', '["aucc"]'),
        "tasks.screening.metrics.aucc: 'aucc' is no known metric: did you mean 'auc'?; known are ",
    ),
    "an unknown kind": (
        SCREENING.replace('"number"', '"nummer"'),
        "fields.likelihood: 'nummer' is no known kind: did you mean 'number'?; known are ",
    ),
    "an unknown key": (
        SCREENING.replace("minimum", "minimun"),
        "unknown key fields.likelihood.minimun: did you mean 'minimum'?",
    ),
    "an unknown key that is like none": (
        SCREENING.replace('metrics = ["auc"]', "metrics.auc = { weights = 1 }"),
        "unknown key tasks.screening.metrics.auc.weights; known are metric, field, title, over_cases, group",
    ),
    "no kind": (SCREENING.replace('kind = "number"\n', ""), "fields.likelihood.kind is missing"),
    "a wrong type": (
        SCREENING.replace("maximum = 1", 'maximum = "one"'),
        "fields.likelihood.maximum: input should be a valid number (got 'one')",
    ),
    "no task": (SCREENING.split("[tasks")[0], "tasks is missing"),
    "options beside a declaration": (
        f"{SCREENING}\n[options]\nx = 1\n",
        "options: expected none, since a declared challenge has no others",
    ),
    "a name with a capital": (
        SCREENING.replace("[tasks.screening]", "[tasks.Screening]"),
        "tasks.Screening",
    ),
    "a field that is not there": (
        SCREENING.replace('metrics = ["auc"]', 'metrics.auc = { field = "mask" }'),
        "tasks.screening.metrics.auc.field: expected one of likelihood, found 'mask'",
    ),
    "a field without a metric": (
        SCREENING.replace("[tasks", '[fields.age]\nkind = "number"\n\n[tasks').replace(
            'metrics = ["auc"]', 'metrics.auc = { field = "likelihood" }'
        ),
        "fields.age: no metric uses this field",
    ),
    "a field that must be named": (
        SCREENING.replace("[tasks", '[fields.age]\nkind = "number"\n\n[tasks'),
        "tasks.screening.metrics.auc.field: expected one of likelihood, age, found none",
    ),
    "no worst value": (
        '[fields.age]\nkind = "number"\nminimum = 0\n\n'
        '[tasks.screening]\nmetrics = ["mean_absolute_error"]\n',
        "tasks.screening.metrics.mean_absolute_error: worst: expected the error of a case without a result, "
        "since the field has no bounds",
    ),
    "a ranking by what is not there": (
        f'{SCREENING}\n[ranking]\nmetrics = ["screening.dice"]\n',
        "ranking: 'screening.dice' is not a metric of this phase; known are screening.auc",
    ),
    "a score that is not there": (
        f'{SCREENING}\n[ranking]\nscore = "screening.dice"\n',
        "ranking.score: 'screening.dice' is not a metric or composite of this phase",
    ),
    "boards beside metrics": (
        f'{SCREENING}\n[ranking]\nmetrics = ["screening.auc"]\n'
        'boards = [{ name = "all", terms = [{ rank = "screening.auc" }] }]\n',
        "ranking: expected metrics with weights, or boards, found both",
    ),
    "a composite of what is not there": (
        f'{SCREENING}\n[composites.sum]\nweights = {{ "screening.dice" = 1 }}\n',
        "composites.sum: 'screening.dice' is not a metric of this phase",
    ),
    "two metrics of one figure": (
        '[fields.map]\nkind = "label_map"\nlabels = { 1 = "cup", 2 = "rim" }\n\n[tasks.eyes.metrics]\n'
        'dice = {}\ndice_cup = { metric = "dice", labels = ["cup"] }\n',
        "tasks.eyes: several metrics yield a figure 'dice_cup'",
    ),
    "a task with a reserved name": (
        SCREENING.replace("[tasks.screening]", "[tasks.run_time]"),
        "tasks.run_time: expected another name, since 'run_time' is a task of its own",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_names_its_key(tmp_path, columns, case):
    tables, expected = FAULTS[case]
    assert any(fault.startswith(f"phase.toml: {expected}") for fault in faults_of(tmp_path, columns, tables))


def test_an_unknown_metric_is_answered_with_those_of_its_kind(tmp_path, columns):
    (fault,) = faults_of(tmp_path, columns, SCREENING.replace('["auc"]', '["dicee"]'))
    known = fault.partition("; known are ")[2].split(", ")
    assert {"auc", "partial_auc", "accuracy", "mean_absolute_error"} <= set(known)
    assert not {"dice", "froc", "mean_radial_error"} & set(known)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("pearson", ": did you mean 'pearson_correlation'?"),
        (
            "correlation",
            ": did you mean 'matthews_correlation' or 'pearson_correlation' or 'spearman_correlation' "
            "or 'intraclass_correlation'?",
        ),
        ("rmse", ": did you mean 'root_mean_squared_error'?"),
        ("elo", ""),
    ],
)
def test_a_word_or_the_initials_of_a_metric_are_enough_to_name_it(tmp_path, columns, given, meant):
    (fault,) = faults_of(tmp_path, columns, SCREENING.replace('["auc"]', f'["{given}"]'))
    assert f": '{given}' is no known metric{meant}; known are " in fault


def test_the_kind_is_that_of_the_field_that_the_metric_names(tmp_path, columns):
    tables = AGE.replace("[tasks", "[tasks.more.metrics]\nx = { metric = 'aucc', field = 'age' }\n[tasks", 1)
    tables = tables.replace("[tasks", '[fields.eye]\nkind = "flags"\nnames = ["a"]\n[tasks', 1)
    (fault,) = (fault for fault in faults_of(tmp_path, columns, tables) if "aucc" in fault)
    assert "did you mean 'auc'" in fault
    assert "hamming_distance" not in fault


@pytest.mark.parametrize(
    "fields", ['"x"', "[1]", "{ value = 3 }", "{ value = { kind = 3 } }", "{ value = {} }"]
)
def test_fields_that_are_none_and_an_unknown_metric_are_told_together(tmp_path, columns, fields):
    faults = faults_of(tmp_path, columns, f'fields = {fields}\n[tasks.all]\nmetrics = ["aucc"]\n')
    about_fields, about_metric = sorted(faults)
    assert about_fields.startswith("phase.toml: fields")
    assert about_metric.startswith(
        "phase.toml: tasks.all.metrics.aucc: 'aucc' is no known metric: did you mean"
    )


def test_all_faults_are_listed_at_once(tmp_path, columns):
    tables = SCREENING.replace('"number"', '"nummer"').replace('"auc"', '"dicee"')
    tables += '[ranking]\nmetrics = "screening.auc"\n'
    faults = faults_of(tmp_path, columns, tables)
    assert [fault.split(":")[1].strip() for fault in faults] == [
        "fields.likelihood",
        "tasks.screening.metrics.dicee",
        "ranking.metrics",
    ]


def test_all_faults_of_names_are_listed_at_once_and_none_that_follows_from_another(tmp_path, columns):
    composites = (
        '[composites.one]\nweights = { "screening.x" = 1 }\n[composites.two]\nweights = { "y" = 1 }\n'
    )
    ranking = '[ranking]\nmetrics = ["screening.z"]\nscore = "screening.s"\n'
    known = "screening.auc, one, two"
    assert faults_of(tmp_path, columns, f"{SCREENING}\n{composites}{ranking}") == [
        "phase.toml: composites.one: 'screening.x' is not a metric of this phase",
        "phase.toml: composites.two: 'y' is not a metric of this phase",
        f"phase.toml: ranking: 'screening.z' is not a metric of this phase; known are {known}",
        "phase.toml: ranking.score: 'screening.s' is not a metric or composite of this phase",
    ]
    tables = SCREENING.replace("[tasks", '[fields.age]\nkind = "number"\n\n[tasks')
    (fault,) = faults_of(
        tmp_path, columns, f'{tables}\n[composites.one]\nweights = {{ "screening.auc" = 1 }}\n'
    )
    assert fault.startswith("phase.toml: tasks.screening.metrics.auc.field")


@pytest.mark.parametrize(
    ("metric", "title"),
    [
        ("pearson_correlation = {}", "Pearson's correlation"),
        ('pearson_correlation = { title = "r" }', "r"),
        ('of_ages = { metric = "pearson_correlation" }', "Of ages"),
        ('of_ages = { metric = "pearson_correlation", title = "r" }', "r"),
        ("root_mean_squared_error = {}", "Root mean squared error"),
    ],
)
def test_a_title_is_ones_own_or_that_of_the_metric_or_its_name(tmp_path, columns, metric, title):
    tables = f'[fields.age]\nkind = "number"\nminimum = 0\nmaximum = 120\n\n[tasks.all.metrics]\n{metric}\n'
    phase = load_phase(write_phase(tmp_path, columns, tables))
    assert [of.title for of in phase.challenge.figures_of(phase.tasks).values()] == [title]


BOARD = """boards = [
{ name = "age", terms = [{ rank = "patient.mean_absolute_error" }] },
{ name = "eye", terms = [{ rank = "screening.early" }] },
]
"""
RANKINGS = {
    "the first metric of each task": ("", ("mean", {"screening.early": 1, "patient.mean_absolute_error": 1})),
    "weights": (
        'metrics = ["patient.mean_absolute_error", "screening.early"]\n'
        'weights = { "screening.early" = 0.7 }\n',
        ("sum", {"patient.mean_absolute_error": 1, "screening.early": Fraction(7, 10)}),
    ),
}


def ranking_of(tmp_path, columns, ranking):
    phase = load_phase(write_phase(tmp_path, columns, f"{AGE.split('[ranking]')[0]}\n[ranking]\n{ranking}"))
    assert phase.challenge.ranking is not None
    return phase.challenge.ranking(phase.options)


@pytest.mark.parametrize("case", RANKINGS)
def test_metrics_are_ranked_on_one_board(tmp_path, columns, case):
    ranking, (combination, weights) = RANKINGS[case]
    scheme = ranking_of(tmp_path, columns, ranking)
    (board,) = scheme.boards
    assert scheme.overall == board.name == "overall"
    assert board.combination == combination
    assert {term.metric: term.weight for term in board.terms} == weights


@pytest.mark.parametrize(("overall", "expected"), [("", "eye"), ('overall = "age"\n', "age")])
def test_boards_of_ones_own_are_ranked_by_the_method_that_is_named(tmp_path, columns, overall, expected):
    scheme = ranking_of(tmp_path, columns, f'{BOARD}{overall}method = "min-max"\nties = "dense"\n')
    assert [board.name for board in scheme.boards] == ["age", "eye"]
    assert (scheme.overall, scheme.method, scheme.ties) == (expected, Method("min-max"), "dense")


def _of(kind, keys, metrics):
    return f'[fields.value]\nkind = "{kind}"\n{keys}\n\n[tasks.all]\nmetrics = {metrics}\n'


CONTRADICTING = {
    "a displacement in stacks": (
        _of("displacement_field", "stacked = true", ["folded_share"]),
        "fields.value: stacked: expected none of displacement fields",
    ),
    "a displacement of images": (
        _of("displacement_field", "dimensions = 2", ["folded_share"]),
        "fields.value: expected volumes with one reference",
    ),
    "moving landmarks alone": (
        _of("displacement_field", 'moving_landmarks = "m.csv"', ["folded_share"]),
        "fields.value: fixed_landmarks, moving_landmarks: expected both or none",
    ),
    "errors of landmarks that are not there": (
        _of("displacement_field", "", "{ target_registration_error = { worst = 9 } }"),
        "tasks.all.metrics.target_registration_error: expected fixed_landmarks and moving_landmarks",
    ),
    "a range of one number": (
        _of("image", "minimum = 0\nmaximum = 0", ["image_mean_absolute_error"]),
        "fields.value: expected minimum < maximum",
    ),
    "values cut to nothing": (
        _of("image", "minimum = 0\nmaximum = 1", "{ image_mean_absolute_error = { clip = [1, 0] } }"),
        "tasks.all.metrics.image_mean_absolute_error: clip: expected two values in order",
    ),
    "a signal without a range": (
        _of("image", "", ["peak_signal_to_noise_ratio"]),
        "tasks.all.metrics.peak_signal_to_noise_ratio: clip: expected two values",
    ),
    "an overall ranking of one": (
        f'{SCREENING}\n[ranking]\noverall = "overall"\n',
        "ranking: overall: expected boards",
    ),
    "a weight of another metric": (
        f'{SCREENING}\n[ranking]\nmetrics = ["screening.auc"]\nweights = {{ "screening.dice" = 2 }}\n',
        "ranking: weights: screening.dice is not among the metrics",
    ),
    "survival from 1 to 0": (
        _of("survival", "minimum = 1\nmaximum = 0", ["concordance_index"]),
        "fields.value: expected minimum < maximum, found 1 and 0",
    ),
    "ignored lesions of none": (
        _of("points", "ignored_lesions = [2]", ["froc"]),
        "fields.value: ignored_lesions: expected lesions",
    ),
    "boxes without confidence": (
        _of("boxes", 'classes = ["a"]', ["box_average_precision"]),
        "tasks.all.metrics.box_average_precision: expected probability = true in field 'value'",
    ),
}


@pytest.mark.parametrize("case", CONTRADICTING)
def test_keys_that_contradict_each_other_are_named(tmp_path, columns, case):
    tables, expected = CONTRADICTING[case]
    (fault,) = faults_of(tmp_path, columns, tables)
    assert fault.startswith(f"phase.toml: {expected}")


def test_a_challenge_has_no_declaration_beside_it(tmp_path, columns):
    tables = f'challenge = "refuge"\n{SCREENING}'
    assert faults_of(tmp_path, columns, tables) == [
        "phase.toml: [fields], [tasks]: expected only without 'challenge', found challenge 'refuge'"
    ]


def test_a_phase_imports_the_modules_of_what_it_declares_alone(tmp_path, columns):
    """In a process that has none yet; its workers are forked with the same, and their tables are built."""
    folder = declared_phase(tmp_path, f"{SCREENING}\n# With a box, one could say, as in dice.", columns)
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from evaluation.challenges.declared import names\n"
        "told = names.names_in((Path(sys.argv[1]) / 'phase.toml').read_text())\n"
        "assert not any('pydantic' in name for name in sys.modules)\n"
        "from evaluation.phase.registry import read_configuration\n"
        "read_configuration(Path(sys.argv[1]))\n"
        "package = 'evaluation.challenges.declared.'\n"
        "print(*told, *(name[len(package):] for name in sorted(sys.modules) if name.startswith(package)))\n"
        "from evaluation.challenges import declared\n"
        "declared.prepare(told)\n"
        "from evaluation.challenges.declared.label_maps import Dice, Jaccard\n"
        "print(Dice.__pydantic_complete__, Jaccard.__pydantic_complete__)\n"
    )
    command = [sys.executable, "-c", script, folder]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "auc box class dice number declarable names rules scalars scores tables",
        "True False",
    ]


def test_words_of_a_file_are_kinds_and_metrics_where_they_are_declared():
    assert names_in('kind = "boxes"\n[tasks.a.metrics]\nfroc = {}\nfrocs = ["of", "no kind"]') == [
        "boxes",
        "froc",
    ]
    prepare(["boxes", "froc", "frocs"])
    assert FIELDS.named("boxes").__pydantic_complete__
    assert METRICS.named("froc").__pydantic_complete__
    with pytest.raises(AttributeError):
        _ = declared.nothing


def test_kinds_that_have_a_base_in_common_are_named():
    (dice,) = (one for one in METRICS if name_of(one) == "dice")
    assert names_of(dice.kinds) == ["displacement_field", "instance_map", "label_map"]

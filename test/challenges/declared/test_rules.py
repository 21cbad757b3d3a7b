"""A declared challenge: from the tables of `phase.toml` to scores, and what is wrong with a declaration."""

import json
import re
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
from evaluation.challenges.declared.declarable import FIELDS, METRICS
from evaluation.challenges.declared.names import names_in
from evaluation.core.fault import PhaseError
from evaluation.core.scheme import Method
from evaluation.phase.phase import load_phase
from evaluation.phase.registry import read_configuration, rules_of
from test.challenges.declared.phases import LIKELIHOOD, SCREENING, declared_phase, write_table
from test.faults import faulted
from test.repository import REPOSITORY
from test.started import run

AGE = (
    LIKELIHOOD
    + """
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
)


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


# The platform hands over a bare csv as predictions.csv, whatever its name was.
BARE = AGE.replace('kind = "number"', 'kind = "number"\ntable = "results.csv"')


@pytest.fixture(scope="module")
def result(columns, tmp_path_factory):
    folder = tmp_path_factory.mktemp("declared")
    phase = write_phase(folder, columns, BARE)
    table = {"case": columns["name"], "likelihood": columns["likelihood"], "age": columns["guess"]}
    write_table(folder / "submission" / "predictions.csv", table)
    return evaluation.evaluate(phase, folder / "submission", workers=0).to_dict()


def test_a_submission_is_scored_as_declared(result, columns):
    classes = np.array(columns["class"])
    entering = classes != "U"
    auc = roc_auc_score((classes == "RG")[entering], np.array(columns["likelihood"])[entering])
    error = np.abs(np.array(columns["age"]) - columns["guess"]).mean()
    assert result["aggregates"]["screening"]["early"]["value"] == pytest.approx(auc, abs=5e-5)
    assert result["aggregates"]["patient"]["mean_absolute_error"]["value"] == pytest.approx(error, abs=5e-5)
    total = 1 + auc - error / 100
    assert result["ranking"]["composites"]["total"]["value"] == pytest.approx(total, abs=5e-5)
    assert result["phase"]["challenge"] == "declared"


@pytest.mark.parametrize(
    ("keys", "shown"), [("", True), ('metric_detail = { "patient.*" = "value" }', False)]
)
def test_the_interval_of_a_composite_is_the_same_in_the_result_and_in_the_ranking(
    columns, tmp_path, keys, shown
):
    keys = f'interval_minimum = 5\nplatform.score = "total"\n{keys}'
    phase = write_phase(tmp_path, columns, keys=keys)
    table = {"case": columns["name"], "likelihood": columns["likelihood"], "age": columns["guess"]}
    write_table(tmp_path / "in" / "predictions.csv", table)
    given = ("--input", tmp_path / "in", "--ground-truth", phase, "--output", tmp_path / "each" / "team")
    done = run("evaluate", *given, "--cases", tmp_path / "each" / "team" / "cases.json", "--workers", 0)
    assert done.returncode == 0, done.stderr
    assert run("rank", tmp_path / "each", "--output", tmp_path / "board").returncode == 0
    files = ("each/team/metrics.json", "each/team/cases.json", "board/leaderboard.json")
    metrics, cases, board = (json.loads((tmp_path / name).read_bytes()) for name in files)
    exact = cases["figures"]["composites"]["total"]
    ranked = board["phases"][0]["teams"][0]["metrics"]["total"]["figure"]
    for one, other in (
        (exact["confidence_interval"], ranked),
        (exact["with_unseen_failures"], ranked["with_unseen_failures"]),
    ):
        assert (one["lower"], one["upper"], one["method"]) == (other["lower"], other["upper"], "MOVER")
    published = metrics["ranking"]["composites"]["total"]
    assert ("confidence_interval" in published) == shown
    assert "composite" in run("summary", tmp_path / files[0]).stdout
    settings = json.loads(run("settings", phase).stdout)
    error = "ranking.composites.total.confidence_interval.half_width" if shown else ""
    assert (settings["score_jsonpath"], settings["score_error_jsonpath"]) == (
        "ranking.composites.total.value",
        error,
    )


def test_a_composite_is_rounded_once(tmp_path):
    """An error of 3/7 is 0.4, and twice as much, 6/7, is 0.9, not 0.8."""
    tables = """\
[fields.width]
kind = "number"
minimum = 0
maximum = 1
[tasks.size]
metrics = ["mean_absolute_error"]
[composites.both]
weights = { "size.mean_absolute_error" = 2 }
"""
    names = [f"lesion{number}" for number in range(7)]
    phase = declared_phase(
        tmp_path / "phase", tables, {"name": names, "width": [0] * 7}, keys="value_digits = 1"
    )
    evaluation.seal(phase)
    write_table(tmp_path / "in" / "predictions.csv", {"case": names, "width": [1, 1, 1, 0, 0, 0, 0]})
    result = evaluation.evaluate(phase, tmp_path / "in", workers=0).to_dict()
    assert result["aggregates"]["size"]["mean_absolute_error"]["value"] == 0.4
    assert result["ranking"]["composites"]["both"]["value"] == 0.9


def test_the_recorded_declaration_gives_the_same_rules(result):
    recorded = result["phase"]["options"]
    rules = rules_of("declared", json.loads(json.dumps(recorded)))
    assert rules.challenge.components == ("screening.early", "patient.mean_absolute_error")
    assert rules.options.recorded() == recorded
    assert rules_of("declared", rules.options.form_options()).options == rules.options
    written = tomllib.loads(BARE)
    written["tasks"]["patient"]["metrics"]["mean_absolute_error"]["metric"] = "mean_absolute_error"
    weights = written["ranking"]["weights"]
    written["ranking"]["weights"] = {name: str(weight) for name, weight in weights.items()}  # exact
    assert json.loads(recorded["declaration"]) == written  # without a default of this version


def test_a_submission_enters_one_of_several_optional_tasks_at_least(tmp_path, columns):
    tables = AGE.replace('"number"\n', '"number"\ntable = "eyes.csv"\n', 1)
    tables = tables.replace(
        "[tasks.screening.", '[tasks.screening]\ntitle = "Early signs"\n\n[tasks.screening.'
    )
    tables = f"{tables.split('[ranking]')[0]}[ranking]\nmetrics = []\n"
    phase = write_phase(tmp_path, columns, tables, keys='optional_tasks = "all"')
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "readme.txt").touch()
    with pytest.raises(evaluation.SubmissionRejected) as rejected:
        evaluation.evaluate(phase, tmp_path / "submission", workers=0)
    (fault,) = rejected.value.faults
    assert "Early signs, Patient" in fault.expected
    submitted = {"case": columns["name"], "age": columns["guess"]}
    write_table(tmp_path / "submission" / "predictions.csv", submitted)
    result = evaluation.evaluate(phase, tmp_path / "submission", workers=0).to_dict()
    assert result["aggregates"].keys() == {"patient"}


def refused(folder, tables):
    """Return the problems of a declaration."""
    with pytest.raises(PhaseError) as error:
        read_configuration(declared_phase(folder, tables, {}))
    return [problem.removeprefix("phase.toml: ") for problem in error.value.problems]


TWO_FIELDS = SCREENING.replace("[tasks", '[fields.age]\nkind = "number"\n\n[tasks')
# By what is replaced in a declaration and by what: the fault's place, and what was found.
FAULTS = {
    ('["auc"]', '["aucc"]'): ("tasks.screening.metrics.aucc", "'aucc'", "'auc'"),
    ('"number"', '"nummer"'): ("fields.likelihood", "'nummer'", "'number'"),
    ("minimum", "minimun"): ("fields.likelihood.minimun", "'minimum'"),
    ('metrics = ["auc"]', "metrics.auc = { weights = 1 }"): ("tasks.screening.metrics.auc.weights",),
    ('kind = "number"\n', ""): ("fields.likelihood.kind",),
    ("maximum = 1", 'maximum = "one"'): ("fields.likelihood.maximum", "'one'"),
    (SCREENING[SCREENING.index("[tasks") :], ""): ("tasks",),
    ("[tasks.screening]", "[options]\nx = 1\n[tasks.screening]"): ("options",),
    ("[tasks.screening]", "[tasks.Screening]"): ("tasks.Screening",),
    ("[tasks.screening]", "[tasks.run_time]"): ("tasks.run_time",),
    ("[fields", 'challenge = "refuge"\n[fields'): ("[fields], [tasks]", "'refuge'"),
    ('metrics = ["auc"]', 'metrics.auc = { field = "mask" }'): (
        "tasks.screening.metrics.auc.field",
        "'mask'",
    ),
    ("[tasks", '[fields.age]\nkind = "number"\n\n[tasks'): ("tasks.screening.metrics.auc.field", "none"),
}
BOARD = '{ name = "all", terms = [{ rank = "screening.auc" }] }'
ADDED = {
    'ranking]\nmetrics = ["screening.dice"]': ("ranking", "'screening.dice'"),
    'ranking]\noverall = "overall"': ("ranking: overall",),
    "ranking]\nmetrics = ['screening.auc']\nweights = { 'screening.dice' = 2 }": (
        "weights",
        "screening.dice",
    ),
    f"ranking]\nmetrics = ['screening.auc']\nboards = [{BOARD}]": ("ranking", "both"),
    'composites.sum]\nweights = { "screening.dice" = 1 }': ("composites.sum", "'screening.dice'"),
}


@pytest.mark.parametrize(("old", "new"), FAULTS)
def test_a_fault_names_its_key(tmp_path, old, new):
    assert old in SCREENING
    with faulted(PhaseError, *FAULTS[old, new]):
        read_configuration(declared_phase(tmp_path, SCREENING.replace(old, new), {}))


@pytest.mark.parametrize("table", ADDED)
def test_rankings_and_composites_are_of_metrics_of_the_phase(tmp_path, table):
    with faulted(PhaseError, *ADDED[table]):
        read_configuration(declared_phase(tmp_path, f"{SCREENING}\n[{table}\n", {}))


def test_fields_without_a_metric_and_figures_of_one_name_are_told(tmp_path):
    named = TWO_FIELDS.replace('metrics = ["auc"]', 'metrics.auc = { field = "likelihood" }')
    assert [fault.partition(":")[0] for fault in refused(tmp_path, named)] == ["fields.age"]
    maps = '[fields.map]\nkind = "label_map"\nlabels = { 1 = "cup", 2 = "rim" }\n[tasks.eyes.metrics]\n'
    (fault,) = refused(tmp_path, f'{maps}dice = {{}}\ndice_cup = {{ metric = "dice", labels = ["cup"] }}\n')
    assert "'dice_cup'" in fault


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("pearson", ["pearson_correlation"]),
        (
            "correlation",
            [f"{of}_correlation" for of in ("matthews", "pearson", "spearman", "intraclass")],
        ),
        ("nae", ["normalised_absolute_error"]),
        ("elo", []),
        ("dicee", []),
    ],
)
def test_a_word_or_the_initials_of_a_metric_of_the_kind_are_enough_to_name_it(tmp_path, given, meant):
    (fault,) = refused(tmp_path, SCREENING.replace('["auc"]', f'["{given}"]'))
    told, _, known = fault.partition("; known are ")
    assert re.findall(r"'(\w+)'", told) == [given, *meant]
    assert {"auc", "partial_auc", "accuracy", "mean_absolute_error"} <= set(known.split(", "))
    assert not {"dice", "froc", "mean_radial_error"} & set(known.split(", "))


@pytest.mark.parametrize(
    "fields", ['"x"', "[1]", "{ value = 3 }", "{ value = { kind = 3 } }", "{ value = {} }"]
)
def test_fields_that_are_none_and_an_unknown_metric_are_told_together(tmp_path, fields):
    about_fields, about_metric = sorted(
        refused(tmp_path, f'fields = {fields}\n[tasks.all]\nmetrics = ["aucc"]\n')
    )
    assert about_fields.startswith("fields")
    assert about_metric.startswith("tasks.all.metrics.aucc: 'aucc'")


def test_all_faults_are_listed_at_once_and_none_that_follows_from_another(tmp_path):
    tables = SCREENING.replace('"number"', '"nummer"').replace('"auc"', '"dicee"')
    tables += '[ranking]\nmetrics = "screening.auc"\n'
    places = ["fields.likelihood", "tasks.screening.metrics.dicee", "ranking.metrics"]
    assert [fault.partition(":")[0] for fault in refused(tmp_path, tables)] == places
    composites = (
        '[composites.one]\nweights = { "screening.x" = 1 }\n[composites.two]\nweights = { "y" = 1 }\n'
    )
    ranking = '[ranking]\nmetrics = ["screening.z"]\n'
    places = ["composites.one", "composites.two", "ranking"]
    faults = refused(tmp_path, f"{SCREENING}\n{composites}{ranking}")
    assert [fault.partition(":")[0] for fault in faults] == places
    assert faults[2].endswith("known are screening.auc, one, two")
    (fault,) = refused(tmp_path, f"{TWO_FIELDS}\n[composites.one]\nweights = {{ 'screening.auc' = 1 }}\n")
    assert fault.startswith("tasks.screening.metrics.auc.field")


BOARDS = """boards = [
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
    assert {term.rank: term.weight for term in board.terms} == weights


@pytest.mark.parametrize(("overall", "expected"), [("", "eye"), ('overall = "age"\n', "age")])
def test_boards_of_ones_own_are_ranked_by_the_method_that_is_named(tmp_path, columns, overall, expected):
    scheme = ranking_of(tmp_path, columns, f'{BOARDS}{overall}method = "min-max"\nties = "dense"\n')
    assert [board.name for board in scheme.boards] == ["age", "eye"]
    assert (scheme.overall, scheme.method, scheme.ties) == (expected, Method("min-max"), "dense")


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

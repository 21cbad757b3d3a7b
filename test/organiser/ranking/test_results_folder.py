import json
import math

import numpy as np
import pytest

from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.results import RankingError, read_results
from test.faults import faulted
from test.organiser.ranking.teams import labels, refuge_columns, write_team

GLAUCOMA = labels(12, 4)


@pytest.fixture
def folder(tmp_path):
    for team, seed in (("a", 1), ("b", 2)):
        columns = refuge_columns(GLAUCOMA, np.random.default_rng(seed), 1.0, 0.8)
        write_team(tmp_path / team, columns, {"vendor": ["x"] * 12}, seed=11, resamples=50)
    return tmp_path


def test_what_was_written_is_read_back(folder):
    columns = refuge_columns(GLAUCOMA, np.random.default_rng(1), 1.0, 0.8)
    columns["classification"]["likelihood"][:2] = [-math.inf, math.inf]
    columns["classification"]["glaucoma"][5] = math.nan
    write_team(folder / "a", columns, {"vendor": ["x"] * 12}, seed=11, resamples=50)
    results = read_results(folder)
    tables = results.submissions[0].tables
    for task, of_task in columns.items():
        for name, values in of_task.items():
            np.testing.assert_array_equal(tables[task][name], values)
    assert results.cases.columns["vendor"] == ("x",) * 12
    assert results.resampling == Resampling(seed=11, resamples=50, interval_minimum=10)


def test_columns_are_divided_as_the_phase_divides_them(folder):
    ages = [str(30 + 5 * position) for position in range(12)]
    for team, seed in (("a", 1), ("b", 2)):
        columns = refuge_columns(GLAUCOMA, np.random.default_rng(seed), 1.0, 0.8)
        write_team(folder / team, columns, {"age": ages, "vendor": ["x"] * 12})
        age = {"column": "age", "bins": [40, 60.5], "compare": "positives"}
        edit(folder / team / "cases.json", lambda content, age=age: content.update(subgroups=[age]))
    cases = read_results(folder).cases
    assert cases.labels("age") == ("below 40",) * 2 + ("40 to 60.5",) * 5 + ("60.5 and above",) * 5
    assert cases.values("age") == ("below 40", "40 to 60.5", "60.5 and above")
    assert (cases.subgroup("age").compare, cases.subgroup("vendor").compare) == ("positives", "cases")
    assert cases.labels("vendor") == ("x",) * 12


def test_variants_are_not_eligible_and_names_are_sorted_as_people_count(folder):
    (folder / "teams.csv").write_text("team,variant_of,remark\nb,a,without further data\na,,\n")
    results = read_results(folder)
    assert (results.variants, results.ineligible) == ({"b": "a"}, {"b"})
    for name in ("10", "9"):
        write_team(folder / name, refuge_columns(GLAUCOMA, np.random.default_rng(3), 1.0, 0.8))
    assert [submission.team for submission in read_results(folder).submissions] == ["9", "10", "a", "b"]


def test_a_declared_time_comes_before_the_run_times_of_the_platform(folder):
    def timed(content):
        for case, seconds in zip(content["cases"], (1.0, 2.0, 6.0), strict=False):
            case["run_seconds"] = seconds

    for team in "ab":
        edit(folder / team / "cases.json", timed)
    (folder / "teams.csv").write_text("team,seconds_per_case\nb,0.5\na,\n")
    found = {one.team: one.seconds for one in read_results(folder).submissions}
    assert found == {"a": 3.0, "b": 0.5}
    (folder / "teams.csv").write_text("team,seconds_per_case\nb,0\na,fast\n")
    with pytest.raises(RankingError) as error:
        read_results(folder)
    assert "teams.csv, line 2, seconds_per_case: expected a number above 0, found 0" in str(error.value)
    assert "teams.csv, line 3, seconds_per_case: " in str(error.value)


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


FAULTS = {
    "another phase": ("b/metrics.json", lambda c: c["phase"].update(manifest="other"), ("'other'",)),
    "other options": (
        "b/metrics.json",
        lambda c: c["phase"]["options"].update(vertical_diameter="extent"),
        ('"extent"',),
    ),
    "no number": (
        "b/metrics.json",
        lambda c: c["aggregates"]["classification"]["auc"].update(value=True),
        ("classification.auc", "True"),
    ),
    "not ours": ("b/metrics.json", "{}", ()),
    "null": ("b/metrics.json", "null", ("null",)),
    "nested": ("b/cases.json", '{"a":' * 100_000, ("line 1",)),
    "an array that is not empty by its shape": (
        "b/cases.json",
        lambda c: c["cases"][0]["tasks"]["classification"].update(x={"shape": [1 << 40]}),
        ("[1099511627776]",),
    ),
    "cases of another phase": ("b/cases.json", lambda c: c.update(manifest="other"), ()),
    "other cases": ("b/cases.json", lambda c: c["cases"][0].update(name="X"), ()),
    "damaged cases": ("b/cases.json", lambda c: c["cases"][0].pop("tasks"), ()),
    "no folder": ("teams.csv", "team,eligible\nc,no\n", ("line 2, team", "'c'")),
    "a variant of an unknown team": ("teams.csv", "team,variant_of\na,z\n", ("variant_of", "'z'", "'a'")),
    "a variant of a variant": ("teams.csv", "team,variant_of\na,b\nb,a\n", ("variant_of", "'b'", "'a'")),
    "an unclear answer": ("teams.csv", "team,eligible\na,perhaps\n", ("line 2, eligible", "'perhaps'")),
}


@pytest.mark.parametrize(("file", "change", "told"), FAULTS.values(), ids=FAULTS)
def test_faults(folder, file, change, told):
    if isinstance(change, str):
        (folder / file).write_text(change)
    else:
        edit(folder / file, change)
    with faulted(RankingError, file, *told):
        read_results(folder)


def test_results_that_do_not_share_labels_cannot_be_compared(folder):
    from evaluation.organiser.ranking.analysis import RankOptions
    from evaluation.organiser.ranking.leaderboard import rank_phase
    from evaluation.phase.places import scheme_of

    edit(
        folder / "b/cases.json",
        lambda c: c["cases"][0]["tasks"]["classification"].update(glaucoma=0.0),
    )
    results = read_results(folder)
    with faulted(RankingError, "b: classification.auc", "a"):
        rank_phase(results, scheme_of(results.challenge, results.options), RankOptions())


def test_nothing_to_rank(tmp_path):
    with faulted(RankingError, str(tmp_path / "missing")):
        read_results(tmp_path / "missing")
    with faulted(RankingError, str(tmp_path)):
        read_results(tmp_path)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "metrics.json").write_text("{}", encoding="utf-8")
    with faulted(RankingError, str(tmp_path / "one")):
        read_results(tmp_path / "one")
    (tmp_path / "one" / "metrics.json").unlink()
    (tmp_path / "a").mkdir()
    with faulted(RankingError, str(tmp_path)):
        read_results(tmp_path)

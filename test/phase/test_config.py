import pytest

from evaluation.core.fault import PhaseError
from evaluation.phase.config import Limits, PhaseConfig, Subgroup, read_config
from test.faults import faulted

MINIMAL = """\
challenge = "refuge"
name = "refuge-tiny"
title = "Tiny"
submission = "archive"
"""


def problems_of(folder, text):
    (folder / "phase.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PhaseError) as caught:
        read_config(folder)
    return list(caught.value.problems)


def config_of(folder, text):
    (folder / "phase.toml").write_text(text, encoding="utf-8")
    return read_config(folder)


def test_four_keys_are_enough(tmp_path):
    config = config_of(tmp_path, MINIMAL)
    assert config == PhaseConfig(challenge="refuge", name="refuge-tiny", title="Tiny", submission="archive")
    assert (config.missing, config.resamples, config.limits) == (None, 1000, Limits())
    assert (config.interval_minimum, config.subgroup_minimum, config.publish_cases) == (10, 10, False)
    assert config.public_detail == "standard"


def test_every_key_is_read(tmp_path):
    text = (
        MINIMAL
        + """\
version = "2"
tasks = ["classification", "fovea"]
missing = "worst"
on_deadline = "worst"
seed = 7
resamples = 0
score = "fovea.distance"
columns = ["classification.auc"]
public_detail = "full"
publish_cases = true
interval_minimum = 2
subgroup_minimum = 1
input_socket = "fundus"
digits = {"classification.auc" = 3}
sockets = {fovea = "fovea-position"}
options = {vertical_diameter = "extent"}
limits = {budget_seconds = 60, case_seconds = 5, worker_memory_mb = 512}

[[subgroups]]
column = "age"
bins = [40, 60.5]

[[subgroups]]
column = "lesion"
compare = "positives"
"""
    )
    config = config_of(tmp_path, text)
    assert config.tasks == ("classification", "fovea")
    assert config.subgroups == (
        Subgroup(column="age", bins=(40.0, 60.5)),
        Subgroup(column="lesion", compare="positives"),
    )
    assert config.digits == {"classification.auc": 3}
    assert config.limits == Limits(budget_seconds=60, case_seconds=5, worker_memory_mb=512)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("score_title = 'AUC'", "unknown key score_title"),
        ("[limits]\ntime = 3", "unknown key limits.time"),
        ("[submissions]\nperiod_days = 3", "submissions: period_days needs limit (got {'period_days': 3})"),
        ("[submissions]\nlimit = -1",
         "submissions.limit: input should be greater than or equal to 0 (got -1)"),
        ("[submissions]\nlimit = 2147483648",
         "submissions.limit: input should be less than or equal to 2147483647 (got 2147483648)"),
        ("[submissions]\nlimit = 1\nperiod_days = 32768",
         "submissions.period_days: input should be less than or equal to 32767 (got 32768)"),
        ("[submissions]\nopens_at = 2024-02-01T00:00:00",
         "submissions.opens_at: input should have timezone info (got datetime.datetime(2024, 2, 1, 0, 0))"),
        ("[[subgroups]]\ncolumn = 'age'\nbin = [3]", "unknown key subgroups.0.bin: did you mean 'bins'?"),
        ("[[subgroups]]\nbins = [3]", "subgroups.0.column is missing"),
        ("seed = 1.5", "seed: input should be a valid integer (got 1.5)"),
        ("seed = true", "seed: input should be a valid integer (got True)"),
        ("seed = -1", "seed: input should be greater than or equal to 0 (got -1)"),
        ("resamples = '200'", "resamples: input should be a valid integer (got '200')"),
        ("resamples = 100001", "resamples: input should be less than or equal to 100000 (got 100001)"),
        ("publish_cases = 1", "publish_cases: input should be a valid boolean (got 1)"),
        ("public_detail = 'all'", "public_detail: input should be 'value', 'standard' or 'full' (got 'all')"),
        ("missing = 'zero'", "missing: input should be 'reject' or 'worst' (got 'zero')"),
        ("on_deadline = ''", "on_deadline: input should be 'fail' or 'worst' (got '')"),
        ("version = 2", "version: input should be a valid string (got 2)"),
        ("tasks = 'fovea'", "tasks: input should be a valid tuple (got 'fovea')"),
        ("columns = [1]", "columns.0: input should be a valid string (got 1)"),
        ("digits = {auc = -1}", "digits.auc: input should be greater than or equal to 0 (got -1)"),
        ("interval_minimum = 1", "interval_minimum: input should be greater than or equal to 2 (got 1)"),
        ("subgroup_minimum = 0", "subgroup_minimum: input should be greater than or equal to 1 (got 0)"),
        ("[limits]\nbudget_seconds = 0", "limits.budget_seconds: input should be greater than 0 (got 0)"),
        ("[limits]\nworker_memory_mb = 1",
         "limits.worker_memory_mb: input should be greater than or equal to 160 (got 1)"),
        ("[[subgroups]]\ncolumn = 'age'\nbins = [60, 40]",
         "subgroups.0.bins: bins must ascend (got [60, 40])"),
        ("[[subgroups]]\ncolumn = 'age'\nbins = [nan]",
         "subgroups.0.bins.0: input should be a finite number (got nan)"),
        ("[[subgroups]]\ncolumn = 'age'\naudience = 'organiser'\nminimum = 0",
         "subgroups.0.minimum: input should be greater than or equal to 1 (got 0)"),
        ("[[subgroups]]\ncolumn = 'age'\nminimum = 5",
         "subgroups.0: minimum needs audience = 'organiser', else set subgroup_minimum "
         "(got {'column': 'age', 'minimum': 5})"),
    ],
)  # fmt: skip
def test_a_fault_names_its_key(tmp_path, line, problem):
    assert problems_of(tmp_path, f"{MINIMAL}{line}\n") == [f"phase.toml: {problem}"]


def test_a_phase_opens_before_it_closes(tmp_path):
    times = "opens_at = 2024-02-01T00:00:00Z\ncloses_at = 2024-01-01T00:00:00Z"
    (problem,) = problems_of(tmp_path, f"{MINIMAL}[submissions]\n{times}\n")
    assert problem.startswith("phase.toml: submissions: opens_at must be before closes_at")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"refuge-tiny"', '"refuge.tiny"'),
        ('"refuge-tiny"', '"../refuge"'),
        ('"refuge-tiny"', '"Refuge"'),
        ('"refuge-tiny"', '""'),
        ('"refuge"', '"os.path"'),
        ('"Tiny"', r'"Ti\u0000ny"'),
        ('"Tiny"', r'"Ti\nny"'),
    ],
)
def test_texts_that_the_platform_could_not_take(tmp_path, old, new):
    (problem,) = problems_of(tmp_path, MINIMAL.replace(old, new))
    assert "string should match pattern" in problem


def test_a_column_parts_the_cases_once(tmp_path):
    (problem,) = problems_of(tmp_path, MINIMAL + "[[subgroups]]\ncolumn = 'age'\n" * 2)
    assert problem.startswith("phase.toml: subgroups: duplicate column 'age'")


def test_all_faults_at_once(tmp_path):
    text = 'challenge = "refuge"\nsubmission = "zip"\nseed = "x"\nscores = 1\n[limits]\nhours = 1\n'
    assert problems_of(tmp_path, text) == [
        "phase.toml: name is missing",
        "phase.toml: title is missing",
        "phase.toml: submission: input should be 'archive' or 'algorithm' (got 'zip')",
        "phase.toml: seed: input should be a valid integer (got 'x')",
        "phase.toml: unknown key limits.hours",
        "phase.toml: unknown key scores: did you mean 'score'?",
    ]


def test_a_file_that_is_none(tmp_path):
    with faulted(PhaseError, "phase.toml"):
        read_config(tmp_path)
    (problem,) = problems_of(tmp_path, "challenge = \n")
    assert problem.startswith("phase.toml: cannot be read: ")
    (tmp_path / "phase.toml").write_bytes(b'title = "\xff"\n')
    with faulted(PhaseError, "phase.toml", "utf-8"):
        read_config(tmp_path)


def test_the_score_cannot_be_excluded_from_the_ranking(tmp_path):
    text = MINIMAL + 'score = "classification.auc"\nunranked_columns = ["classification.auc"]\n'
    with faulted(PhaseError, "unranked_columns", "classification.auc"):
        config_of(tmp_path, text)

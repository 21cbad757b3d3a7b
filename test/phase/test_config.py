import pytest

from evaluation.core.fault import PhaseError
from evaluation.phase.config import read_config
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


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("score_title = 'AUC'", "unknown key score_title"),
        ("[submissions]\nperiod_days = 3", "submissions: period_days needs limit (got {'period_days': 3})"),
        ("[submissions]\nlimit = -1",
         "submissions.limit: input should be greater than or equal to 0 (got -1)"),
        ("[submissions]\nopens_at = 2024-02-01T00:00:00Z\ncloses_at = 2024-01-01T00:00:00Z", None),
        ("[[subgroups]]\ncolumn = 'age'\n[[subgroups]]\ncolumn = 'age'", None),
        ("[submissions]\nopens_at = 2024-02-01T00:00:00",
         "submissions.opens_at: input should have timezone info (got datetime.datetime(2024, 2, 1, 0, 0))"),
        ("[[subgroups]]\ncolumn = 'age'\nbin = [3]", "unknown key subgroups.0.bin: did you mean 'bins'?"),
        ("[[subgroups]]\nbins = [3]", "subgroups.0.column is missing"),
        ("seed = 1.5", "seed: input should be a valid integer (got 1.5)"),
        ("resamples = 100001", "resamples: input should be less than or equal to 100000 (got 100001)"),
        ("missing = 'zero'", "missing: input should be 'reject' or 'worst' (got 'zero')"),
        ("[[subgroups]]\ncolumn = 'age'\nbins = [60, 40]",
         "subgroups.0.bins: bins must ascend (got [60, 40])"),
        ("[[subgroups]]\ncolumn = 'age'\nbins = [nan]",
         "subgroups.0.bins.0: input should be a finite number (got nan)"),
        ("[[subgroups]]\ncolumn = 'age'\nminimum = 5",
         "subgroups.0: minimum needs audience = 'organiser', else set subgroup_minimum "
         "(got {'column': 'age', 'minimum': 5})"),
    ],
)  # fmt: skip
def test_a_fault_names_its_key(tmp_path, line, problem):
    """The published schema holds the bound of every key."""
    (found,) = problems_of(tmp_path, f"{MINIMAL}{line}\n")
    table = line.strip("[]").partition("]")[0]
    assert found.startswith(f"phase.toml: {problem or table}")


def test_texts_that_the_platform_could_not_take(tmp_path):
    for old, new in (
        *(('"refuge-tiny"', name) for name in ('"refuge.tiny"', '"../refuge"', '""')),
        ('"refuge"', '"os.path"'),
        *(('"Tiny"', title) for title in (r'"Ti\u0000ny"', r'"Ti\nny"')),
    ):
        (problem,) = problems_of(tmp_path, MINIMAL.replace(old, new))
        assert "string should match pattern" in problem


def test_all_faults_at_once(tmp_path):
    text = 'challenge = "refuge"\nsubmission = "zip"\nseed = "x"\nscores = 1\n[limits]\nhours = 1\n'
    assert problems_of(tmp_path, text) == [
        "phase.toml: name is missing",
        "phase.toml: submission: input should be 'archive' or 'algorithm' (got 'zip')",
        "phase.toml: seed: input should be a valid integer (got 'x')",
        "phase.toml: unknown key limits.hours",
        "phase.toml: unknown key scores",
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
    text = MINIMAL + '[platform]\nscore = "classification.auc"\nunranked_columns = ["classification.auc"]\n'
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith("phase.toml: platform: unranked_columns")

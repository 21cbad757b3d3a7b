"""The settings reproduce a challenge's ranking by the platform's own rules, or say that they do not."""

import pytest
from scipy.stats import rankdata

from evaluation.organiser.settings import (
    metrics_of_empty_submission,
    platform_settings,
    ranking_notes,
)
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from test.phases import loaded_phase
from test.repository import REPOSITORY


def bundled(name: str) -> Phase:
    folder = REPOSITORY / "ground-truth" / name
    return load_phase(folder, scan(folder))


def ranked_by_the_platform(settings: dict, values: dict[str, list[float]]) -> list[int]:
    """Return the places of teams, as the platform computes them from values by path.

    grand-challenge.org: competition ranks in the score and in every column that is not excluded; by method,
    the score's rank, or the rank of the mean or median of all ranks.
    """
    columns = [(settings["score_jsonpath"], settings["score_default_sort"])]
    columns += [
        (column["path"], column["order"])
        for column in settings["extra_results_columns"]
        if not column.get("exclude_from_ranking")
    ]
    ranks = [
        rankdata([-value if order == "desc" else value for value in values[path]], method="min")
        for path, order in columns
    ]
    if settings["scoring_method_choice"] == "abs":
        return ranks[0].astype(int).tolist()
    assert settings["scoring_method_choice"] == "avg"
    return rankdata([sum(team) / len(team) for team in zip(*ranks, strict=True)], method="min").tolist()


def test_justraigs_is_ranked_by_the_sum_of_two_ranks():
    phase = bundled("justraigs-phase1")
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    # Teams A, B and C: A is best and second best, B last and best, C second and last. The composite would
    # put B first: 0.70, 0.27 and 0.81.
    values = {
        "aggregates.referral.sensitivity_at_95_specificity.value": [0.80, 0.78, 0.79],
        "aggregates.justification.hamming_distance.value": [0.50, 0.05, 0.60],
    }
    assert ranked_by_the_platform(settings, values) == [1, 2, 3]
    assert [column["path"] for column in settings["extra_results_columns"][1:]] == [
        "ranking.composites.referral_and_justification_error"
    ]
    assert ranking_notes(phase, settings) == []


@pytest.mark.parametrize(
    ("name", "method", "shown", "difference"),
    [
        ("refuge-onsite", "abs", "rec", "weights ranks"),
        ("adam-onsite", "abs", "bst", "breaks ties"),
        ("edd2020", "abs", "bst", "several leaderboards"),
        ("cysts", "abs", "bst", "breaks ties"),
    ],
)
def test_what_the_platform_cannot_do_is_said(name, method, shown, difference):
    phase = bundled(name)
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    assert settings["scoring_method_choice"] == method
    assert settings["result_display_choice"] == shown
    assert any(difference in note and "`rank`" in note for note in ranking_notes(phase, settings))


def test_what_the_phase_chooses(tmp_path):
    keys = {"scoring_method": "median", "counts": "best", "optional_tasks": "all"}
    phase = loaded_phase(tmp_path / "phase", 24, keys=keys)
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    assert settings["scoring_method_choice"] == "med"
    assert settings["result_display_choice"] == "bst"
    said = " ".join(ranking_notes(phase, settings))
    assert "the optional task classification;" in said
    assert "the optional task segmentation;" in said


def test_columns_that_useless_submissions_can_lead_are_named():
    phase = bundled("edd2020")
    notes = ranking_notes(phase, platform_settings(phase, metrics_of_empty_submission(phase, 0)))
    (note,) = [note for note in notes if note.startswith("useless submissions")]
    assert "'|mAP in sample − mAP out of sample|'" in note
    assert "'mAP out of sample, mean over the thresholds'" not in note

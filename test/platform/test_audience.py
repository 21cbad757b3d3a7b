"""What each audience sees of a run."""

import json

import pytest

from evaluation.organiser.audience import ContainerRun, views_of

SETTINGS = {
    "score_title": "AUC",
    "score_jsonpath": "aggregates.classification.auc.value",
    "score_error_jsonpath": "aggregates.classification.auc.half_width",
    "score_decimal_places": 3,
    "extra_results_columns": [{"title": "Dice", "path": "aggregates.dice", "order": "desc"}],
    "display_all_metrics": True,
}
METRICS = {"aggregates": {"classification": {"auc": {"value": 0.91234, "half_width": 0.05}}, "dice": 1}}


def views(status=0, stdout=(), stderr=(), metrics=METRICS, **settings):
    data = metrics if isinstance(metrics, bytes | None) else json.dumps(metrics).encode()
    return views_of(ContainerRun(status, stdout, stderr, data), {**SETTINGS, **settings})


def test_success():
    seen = views(stdout=("scored",))
    row = ("On the leaderboard:", "  AUC: 0.912 ± 0.050", "  Dice: 1.000")
    assert views(display_all_metrics=False)["public"][-1] == "metrics.json is not shown."
    shown = "metrics.json as a whole; values by section: aggregates (3)."
    assert seen["public"] == [*row, shown]
    assert seen["participant"] == ["The evaluation succeeded; it uses up an attempt.", *row, shown]
    assert seen["organiser"] == [
        "The same, and:",
        "exit status 0",
        "stdout (1 lines):",
        "  scored",
        "stderr (0 lines):",
    ]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"status": 1, "stderr": ("first", " the last ", "", " ")}, "the last"),
        ({"status": 1, "stderr": ()}, "No errors were reported in the logs."),
        ({"status": 1, "stderr": ("x" * 2000,)}, "x" * 1024),
        ({"status": 137, "stderr": ("ours",)}, "The container was killed as it exceeded the memory limit"),
        ({"status": 1, "stderr": ("ours", "Time limit exceeded")}, "Time limit exceeded"),
        ({"status": 143, "stderr": ("ours",)}, "ours"),
        ({"metrics": None}, "metrics.json is missing or no JSON"),
        ({"metrics": b"{"}, "metrics.json is missing or no JSON"),
        ({"metrics": b"[]"}, "metrics.json holds no object"),
    ],
)
def test_failure(run, message):
    seen = views(**run)
    assert seen["participant"] == [
        "The evaluation failed; it does not use up an attempt.",
        f"Message: {message}",
    ]
    assert seen["public"] == [
        "Nothing on the leaderboard.",
        f"On the evaluation's own page, the message: {message}",
    ]


def test_only_the_organiser_sees_stdout():
    seen = views(status=1, stdout=("case R0007 is positive",), stderr=("rejected",))
    assert "  case R0007 is positive" in seen["organiser"]
    assert not [line for line in (*seen["participant"], *seen["public"]) if "R0007" in line]


@pytest.mark.parametrize("value", [None, True, "0.9", [0.9], {"value": 1}])
def test_a_score_that_is_no_number_leaves_the_leaderboard_in_silence(value):
    metrics = {"aggregates": {**METRICS["aggregates"], "dice": value}}
    expected = "Not on the leaderboard, without a message: no number for Dice."
    assert views(metrics=metrics)["public"][0] == expected
    del metrics["aggregates"]["dice"]
    assert views(metrics=metrics)["public"][0] == expected


def test_the_last_500_lines_of_a_log_are_kept():
    seen = views(stdout=tuple(map(str, range(600))))
    log = seen["organiser"][3:-1]
    assert log == [f"  {number}" for number in range(100, 600)]

import pytest

from evaluation.challenges import adam
from evaluation.challenges.refuge import CHALLENGE, RefugeOptions
from evaluation.phase.config import PhaseConfig
from evaluation.phase.leaderboard import optional_tasks, platform_metrics, unranked_metrics
from evaluation.phase.registry import Rules

SEGMENTATION = (
    "segmentation.dice_cup",
    "segmentation.dice_disc",
    "segmentation.vertical_cup_to_disc_ratio_error",
)


@pytest.mark.parametrize(
    ("keys", "metrics"),
    [
        ({}, ("classification.auc", *SEGMENTATION)),
        ({"tasks": ("segmentation",)}, SEGMENTATION),
        ({"tasks": ("fovea",)}, ("fovea.distance",)),
        ({"tasks": ("segmentation", "fovea")}, SEGMENTATION),
        ({"score": "segmentation.dice_cup"},
         ("segmentation.dice_cup", "classification.auc", *SEGMENTATION[1:])),
        ({"columns": ()}, ("classification.auc",)),
        ({"columns": ("fovea.distance",) * 2}, ("classification.auc", "fovea.distance")),
        ({"score": "fovea.distance", "columns": ("fovea.distance",)}, ("fovea.distance",)),
    ],
)  # fmt: skip
def test_metrics_of_the_leaderboard(keys, metrics):
    config = PhaseConfig(challenge="refuge", name="r", title="", submission="archive", **keys)
    tasks = Rules(CHALLENGE, RefugeOptions()).select_tasks(config.tasks, None)
    assert platform_metrics(config, CHALLENGE, tasks) == metrics
    needs_fovea = "fovea.distance" in metrics
    has_fovea = "fovea" in {task.name for task in tasks}
    assert optional_tasks(config, CHALLENGE, tasks) == (("fovea",) if has_fovea and not needs_fovea else ())


DISC = ("disc.dice", "disc.f1")


@pytest.mark.parametrize(
    ("keys", "ranked", "shown", "optional"),
    [
        ({"tasks": ("disc", "fovea")}, DISC, ("fovea.distance",), ("disc", "fovea")),
        ({"tasks": ("classification", "disc")}, ("classification.auc",), DISC, ("classification", "disc")),
        # Of a single task nothing can be left out.
        ({"tasks": ("disc",)}, DISC, (), ()),
        # What the phase itself names is needed.
        (
            {"tasks": ("classification", "disc", "fovea"), "score": "fovea.distance"},
            ("fovea.distance", "classification.auc"),
            DISC,
            ("classification", "disc"),
        ),
        ({"tasks": ("classification", "disc"), "columns": DISC},
         ("classification.auc", *DISC), (), ("classification",)),
    ],
)  # fmt: skip
def test_where_every_task_is_optional_the_first_is_ranked(keys, ranked, shown, optional):
    config = PhaseConfig(challenge="adam", name="a", title="", submission="archive", **keys)
    tasks = Rules(adam.CHALLENGE, adam.AdamOptions()).select_tasks(config.tasks, None)
    assert platform_metrics(config, adam.CHALLENGE, tasks) == ranked
    assert unranked_metrics(config, adam.CHALLENGE, tasks) == shown
    assert optional_tasks(config, adam.CHALLENGE, tasks) == optional

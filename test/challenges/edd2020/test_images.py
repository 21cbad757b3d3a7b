"""What the organiser sees of single images, by hand, and how hard they are for the teams."""

from evaluation.organiser.ranking.difficulty import case_difficulties
from evaluation.organiser.ranking.resampling import TeamCases
from test.challenges.edd2020.test_rules import BE, CANCER, HGD, ONE, OTHER, POLYP, table_of, task

IMAGES = [
    # A cancer is called a polyp; Barrett's is found, with little confidence.
    ([(POLYP, 0.9, *ONE), (BE, 0.4, *OTHER)], [(CANCER, *ONE), (BE, *OTHER)]),
    # One of two found, just sure enough to count at 0.5, one false box on nothing.
    ([(BE, 0.5, *ONE), (POLYP, 0.2, 80, 80, 89, 89)], [(BE, *ONE), (BE, *OTHER)]),
    ([], []),
    (None, [(HGD, *ONE)]),
]


def test_details_by_hand():
    detection = task("detection")
    details = detection.details(table_of(IMAGES, detection))
    assert details["reference_boxes"] == {
        "BE": {"boxes": 3, "images": 2},
        "suspicious": {"boxes": 0, "images": 0},
        "HGD": {"boxes": 1, "images": 1},
        "cancer": {"boxes": 1, "images": 1},
        "polyp": {"boxes": 0, "images": 0},
    }
    assert details["boxes_of_images"] == {
        "E0": {"true": 1, "false": 1, "missed": 1},
        "E1": {"true": 1, "false": 1, "missed": 1},
        "E2": {"true": 0, "false": 0, "missed": 0},
        "E3": {"true": 0, "false": 0, "missed": 1},
    }


def test_the_second_set_by_itself():
    generalisation = task("generalisation")
    images = [IMAGES[0], (*IMAGES[1], True)]
    details = generalisation.details(table_of(images, generalisation))
    assert details["boxes_of_images"] == {"E1": {"true": 1, "false": 1, "missed": 1}}
    assert generalisation.details(table_of(IMAGES[:1], generalisation)) == {}


def test_difficulty_by_hand():
    detection = task("detection")
    metrics = {f"detection.{metric.name}": metric for metric in detection.metrics}
    better = [*IMAGES[:3], ([(HGD, 0.9, *ONE)], [(HGD, *ONE)])]
    tables = tuple({"detection": table_of(images, detection)} for images in (IMAGES, better))
    found = case_difficulties(metrics, TeamCases(("a", "b"), tables))
    # F1: 2/4, 2/4, 1 without any box, and 0 without a result or 1.
    assert [(row.case, row.value, row.teams) for row in found] == [
        ("E0", 0.5, 2),
        ("E1", 0.5, 2),
        ("E3", 0.5, 2),
        ("E2", 1.0, 2),
    ]
    assert {(row.metric, row.measure) for row in found} == {
        ("detection.map_d", "F1 of the image's boxes at IoU 0.5, mean over teams")
    }

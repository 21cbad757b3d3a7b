"""Scoring of single REFUGE images against masks worked out by hand, and the table of edge cases."""

from fractions import Fraction

import numpy as np
import pytest
from PIL import Image

import evaluation
from evaluation.challenges.refuge import CHALLENGE, RATIO, RefugeOptions, ranking
from evaluation.phase.validation import InvalidTableError, read_table
from test.io.memory import read_image

SIGNS = {".": 255, "d": 128, "c": 0}


def mask(*rows: str):
    (field,) = task("segmentation").fields
    return read_image(field.kind, np.array([[SIGNS[sign] for sign in row] for row in rows], np.uint8))


def task(name: str, **options: str):
    return next(task for task in CHALLENGE.tasks(RefugeOptions(**options)) if task.name == name)


def score(predicted, true, **options: str):
    return task("segmentation", **options).score({"segmentation": predicted}, {"segmentation": true})


ROWS = (
    ".....",
    ".ddd.",
    ".dcd.",
    ".dcd.",
    ".ddd.",
    ".....",
)
TRUE, VALUES = mask(*ROWS), np.array([[SIGNS[sign] for sign in row] for row in ROWS], np.uint8)
EMPTY = mask(*["....."] * 6)


def test_scores_of_a_small_mask_by_hand():
    predicted = mask(
        ".....",
        ".....",
        ".dcd.",
        ".dcd.",
        ".dcd.",
        ".....",
    )
    # disc: 9 predicted, 12 true, 9 common; cup: 3, 2, 2; ratios 3/3 and 2/4.
    assert score(predicted, TRUE) == {
        "dice_disc": pytest.approx(2 * 9 / 21),
        "dice_cup": pytest.approx(2 * 2 / 5),
        "vertical_cup_to_disc_ratio_error": pytest.approx(0.5),
        "predicted_vertical_cup_to_disc_ratio": pytest.approx(1.0),
        "reference_vertical_cup_to_disc_ratio": pytest.approx(0.5),
    }


EDGES = {
    "identical": (TRUE, TRUE, 1.0, 1.0, 0.0),
    "both empty": (EMPTY, EMPTY, 1.0, 1.0, 0.0),
    "nothing predicted": (EMPTY, TRUE, 0.0, 0.0, 0.5),
    "nothing to find": (TRUE, EMPTY, 0.0, 0.0, 0.5),
    "disc without cup": (mask(".....", ".ddd.", ".ddd.", ".ddd.", ".ddd.", "....."), TRUE, 0.0, 1.0, 0.5),
    "cup alone is disc as well": (
        mask(".....", ".ccc.", ".ccc.", ".ccc.", ".ccc.", "....."),
        TRUE,
        2 * 2 / 14,
        1.0,
        0.5,
    ),
    "no cup on either side": (mask("dd...", "....."), mask("dd...", "....."), 1.0, 1.0, 0.0),
}


@pytest.mark.parametrize(("predicted", "true", "cup", "disc", "error"), EDGES.values(), ids=EDGES)
def test_edges_of_the_segmentation(predicted, true, cup, disc, error):
    row = score(predicted, true)
    assert row["dice_cup"] == pytest.approx(cup)
    assert row["dice_disc"] == pytest.approx(disc)
    assert row["vertical_cup_to_disc_ratio_error"] == pytest.approx(error)


def test_a_vertical_diameter_is_that_of_a_column_or_of_all_rows():
    slanted = mask("dd...", ".dd..", "..cdd")
    ratio = f"predicted_{RATIO}"
    assert score(slanted, slanted)[ratio] == pytest.approx(1 / 2)
    assert score(slanted, slanted, vertical_diameter="extent")[ratio] == pytest.approx(1 / 3)


SEGMENTATION = (
    'challenge = "refuge"\nname = "r"\ntitle = "R"\nsubmission = "archive"\ntasks = ["segmentation"]\n'
)


def scored(folder, values, keys=""):
    """Return the result of one mask of such values against that of `ROWS`; ``keys`` are of the phase."""
    phase, submission = folder / "phase", folder / "in"
    for path, pixels in ((phase / "masks", VALUES), (submission / "segmentation", values)):
        path.mkdir(parents=True)
        Image.fromarray(pixels).save(path / "R0001.png")
    (phase / "cases.csv").write_text("name,width,height\nR0001,5,6\n")
    (phase / "phase.toml").write_text(SEGMENTATION + keys)
    evaluation.seal(phase)
    return evaluation.evaluate(phase, submission, workers=1)


def test_another_value_is_a_fault_or_the_disc(tmp_path):
    values = VALUES.copy()
    values[1, 1:4] = 77
    with pytest.raises(evaluation.SubmissionRejected) as refused:
        scored(tmp_path / "error", values)
    assert "77" in refused.value.faults[0].found
    found = scored(tmp_path / "disc", values, '[options]\nunlisted_labels = "disc"\n').to_dict()
    figures = found["aggregates"]["segmentation"]
    assert [figures[f"dice_{of}"]["value"] for of in ("cup", "disc")] == [1, 1]


def test_what_was_measured_in_single_images_is_for_the_organiser_alone(tmp_path):
    found = scored(tmp_path, VALUES, 'publish_cases = true\nlearnable_labels = ["*"]\n')
    (columns,) = found.to_dict()["case"].values()
    published = {"dice_cup", "dice_disc", f"{RATIO}_error", f"reference_{RATIO}"}
    assert columns["segmentation"].keys() == published
    (case,) = found.records["cases"]
    assert case["tasks"]["segmentation"].keys() == score(TRUE, TRUE).keys() > published


def test_ranking_weights_are_exact_decimals_and_options():
    # As a float, 0.35 is no decimal number; the paper's printed Eq. 3 is an option.
    options = read_table(RefugeOptions, {"weights": {"dice_cup": 0.25, "dice_disc": 0.35}})
    scheme = ranking(options)
    assert [term.weight for term in scheme.boards[1].terms] == [
        Fraction(1, 4),
        Fraction(7, 20),
        Fraction(2, 5),
    ]
    assert scheme.phases == {"offline": Fraction(3, 10), "onsite": Fraction(7, 10)}
    with pytest.raises(InvalidTableError, match="greater than or equal to 0"):
        read_table(RefugeOptions, {"weights": {"dice_cup": -1}})

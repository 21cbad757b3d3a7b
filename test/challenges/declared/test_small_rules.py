"""Rules of single challenges through whole declared phases, each against a computation of its own."""

import numpy as np
import pytest
from sklearn import metrics as oracle

from evaluation.challenges.declared.class_probabilities import MacroAveragePrecision, PresencesField
from evaluation.challenges.declared.declarable import METRICS
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.phase.phase import load_phase
from test.challenges.declared import test_average_precision
from test.challenges.declared.scalars import rehearsed, sealed, values
from test.oracles import checked

TOOLS = """\
[fields.tools]
kind = "presence_probabilities"
classes = ["grasper", "hook", "clipper"]
reference_columns = ["has_grasper", "has_hook", "has_clipper"]

[tasks.frames.metrics]
macro_average_precision = {}
of_videos = { metric = "macro_average_precision", group = "video" }
"""


WORDS = """
[composites.twice]
title = "Twice the precision"
weights = { "frames.macro_average_precision" = 2 }

[composites.total]
weights = { "frames.macro_average_precision" = 1, "frames.of_videos" = 1 }

[titles]
hook = "L-hook electrode"
total = "Sum of both"
"frames.of_videos" = "Average precision by video"
"""


def test_titles_take_the_words_of_a_phase(tmp_path):
    names = [f"f{number:02d}" for number in range(8)]
    flags = dict.fromkeys(["has_grasper", "has_hook", "has_clipper"], [0, 1] * 4)
    phase = load_phase(sealed(tmp_path / "phase", TOOLS + WORDS, {"name": names, "video": names, **flags}))
    titles = {name: one.title for name, one in phase.challenge.figures_of(phase.tasks).items()}
    assert titles["frames.macro_average_precision_hook"] == "Macro average precision, L-hook electrode"
    assert titles["frames.macro_average_precision_clipper"] == "Macro average precision, clipper"
    assert (titles["frames.of_videos"], titles["total"]) == ("Average precision by video", "Sum of both")
    assert titles["twice"] == "Twice the precision"


@checked(macro_average_precision="sklearn.metrics.average_precision_score")
def test_average_precision_of_several_findings_by_video(tmp_path):
    random = np.random.default_rng(8)
    present = random.integers(0, 2, (40, 3))
    videos = np.repeat(["v1", "v2", "v3", "v4"], 10)
    present[videos == "v2", 1] = 0
    present[:, 2] &= videos == "v3"
    chances = (0.5 * present + random.uniform(0, 0.5, present.shape)).round(1)
    names = [f"f{number:02d}" for number in range(40)]
    columns = ["has_grasper", "has_hook", "has_clipper"]
    cases = {"name": names, "video": videos, **dict(zip(columns, present.T, strict=True))}
    phase = sealed(tmp_path / "phase", TOOLS, cases)
    found = values(
        phase, tmp_path, {"case": names, **dict(zip(["grasper", "hook", "clipper"], chances.T, strict=True))}
    )

    def of(rows):
        return [
            oracle.average_precision_score(present[rows, one], chances[rows, one])
            if present[rows, one].any()
            else np.nan
            for one in range(3)
        ]

    assert found["macro_average_precision"] == pytest.approx(np.mean(of(videos != "")), abs=5e-7)
    by_video = np.array([of(videos == video) for video in np.unique(videos)])
    assert found["of_videos_hook"] == pytest.approx(np.nanmean(by_video[:, 1]), abs=5e-7)
    assert found["of_videos"] == pytest.approx(np.nanmean(by_video, axis=0).mean(), abs=5e-7)
    assert rehearsed(phase).problems == ()


def test_a_frame_without_a_result_is_not_found_and_comes_first_where_it_has_no_finding():
    names = ["a", "b"]
    field = PresencesField(kind="presence_probabilities", classes=names, reference_columns=names)
    measure = MacroAveragePrecision(metric="macro_average_precision").measure("figure", "tools", field)
    rows = [
        measure.row(FieldComparison("tools", shares, {"tools": flags}))
        for shares, flags in (((0.9, 0.2), (True, False)), ((0.1, 0.8), (False, True)))
    ]
    rows.append(measure.worst({"tools": (True, False)}))
    found = metric_values(measure.metrics, CaseTable(["x", "y", "lost"], rows))
    # Of a, one of two frames is found, and first; of b, the lost frame comes before the only right one.
    assert found == {"figure_a": 1 / 2, "figure_b": 1 / 2, "figure": 1 / 2}


def test_classes_on_several_levels_are_averaged_on_each_and_then_over_the_levels():
    """Quadrant and diagnosis, each by pycocotools."""
    levels = ([0, 0, 1], [0, 1, 0])
    table = test_average_precision.BoxesField(
        kind="boxes", classes=["1 - caries", "1 - lesion", "2 - caries"], probability=True
    )
    drawn = test_average_precision.images_of(2)
    both = []
    for kind in ("box_average_precision", "box_average_recall"):
        option = {"metric": kind, "level_separator": " - ", "ties": "order"}
        of = METRICS.named(kind).model_validate(option)
        found = test_average_precision.figures(of.measure("figure", "boxes", table), drawn)
        for level, names in zip(levels, (["1", "2"], ["caries", "lesion"]), strict=True):
            mapped = [
                [np.column_stack([np.take(level, rows[:, 0].astype(int)), rows[:, 1:]]) for rows in image]
                for image in drawn
            ]
            precision, recall = test_average_precision.coco_of(mapped)
            each = (precision.mean(axis=(0, 1)) if kind == "box_average_precision" else recall.mean(axis=0))[
                :2
            ]
            number = levels.index(level) + 1
            assert [found[f"figure_level_{number}_{name}"] for name in names] == pytest.approx(each.tolist())
            both.append(each.mean())
        assert found["figure"] == pytest.approx(np.mean(both[-2:]))

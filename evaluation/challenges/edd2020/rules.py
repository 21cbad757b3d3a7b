"""EDD2020: detection, segmentation and generalisation in endoscopy (2020), section IV of its paper.

Other EndoCV challenges have the same rules, so classes and thresholds are options.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import AfterValidator

from evaluation.challenges.edd2020 import detection
from evaluation.core.case_table import Row, WeightedCases
from evaluation.core.challenge import Challenge, FormColumn, Options, Task, Values
from evaluation.core.estimator import Count, FunctionOfCases, Mean
from evaluation.core.field import Field, Files, Reference, Socket
from evaluation.core.form import CaseForm
from evaluation.core.keys import IN_FORM, Key
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.scheme import Board, Scheme, Term
from evaluation.io.kinds.boxes import Boxes, BoxList
from evaluation.io.kinds.objects import Attributes
from evaluation.io.kinds.volume import MultilabelMask
from evaluation.io.pixels import Outside
from evaluation.metrics import segmentation
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import EMPTY, Crop
from evaluation.stats.columns import weighted_deviation

# (1 + beta²)·|A∩B| / (beta²·|reference| + |prediction|): van Rijsbergen, Information Retrieval, 1979.
F2 = segmentation.OverlapRatio(lambda of: (5 * of.intersection, 4 * of.reference + of.prediction))
OVERLAPS = {
    "precision": ("Precision", segmentation.precision_of_counts),
    "recall": ("Recall", segmentation.recall_of_counts),
    "f1": ("F1 (Dice)", segmentation.dice_of_counts),
    "f2": ("F2", F2),
}
"""Title and function of the four overlap metrics, by column."""


def multilabel_columns(
    predicted: Sequence[Crop], reference: Sequence[Crop], classes: Sequence[str]
) -> dict[str, float]:
    """Return the columns of one image from its regions, one for each class.

    ``precision``, ``recall``, ``f1`` and ``f2`` pool all channels: 1 if both sides are empty, 0 if one is.
    ``score`` is their mean. ``f1_<class>`` and so on are of one class, NaN if the reference lacks it.
    ``false_<class>`` exists if the reference lacks the class: 1 if it is predicted, else 0.
    """
    overlaps = [segmentation.overlap_of(*pair) for pair in zip(predicted, reference, strict=True)]
    pooled = segmentation.OverlapCounts(
        sum(counts.intersection for counts in overlaps),
        sum(counts.prediction for counts in overlaps),
        sum(counts.reference for counts in overlaps),
    )
    row = _overlaps(pooled)
    row["score"] = sum(row.values()) / len(OVERLAPS)
    for name, counts in zip(classes, overlaps, strict=True):
        class_row = _overlaps(counts) if counts.reference else dict.fromkeys(OVERLAPS, nan)
        row |= {f"{figure}_{name}": value for figure, value in class_row.items()}
        row[f"false_{name}"] = nan if counts.reference else float(counts.prediction > 0)
    return row


def worst_multilabel_columns(reference: Sequence[Crop], classes: Sequence[str]) -> dict[str, float]:
    """Return the columns of an image without a result: overlap 0, and false pixels of every absent class."""
    nothing = multilabel_columns([EMPTY] * len(classes), reference, classes)
    return {
        column: value if math.isnan(value) else float(column.startswith("false_"))
        for column, value in nothing.items()
    }


def multilabel_metrics(classes: Sequence[str]) -> tuple[Metric, ...]:
    """Return the metrics of the segmentation task (Eq. 6), the score first."""
    return (
        Metric("score_s", "Mean of precision, recall, F1 and F2", Mean("score"), best=1, worst=0),
        Metric(
            "sigma_score_s",
            "Mean standard deviation of precision, recall, F1, F2",
            _mean_deviation(),
            best=0,
            worst=0.5,
            ordered=False,
        ),
        *(mean_metric(name, title, best=1, worst=0) for name, (title, _) in OVERLAPS.items()),
        *(
            mean_metric(f"{name}_{of}", f"{title} of {of}", best=1, worst=0, field="masks", structures=(of,))
            for of in classes
            for name, (title, _) in OVERLAPS.items()
        ),
        *(
            Metric(
                f"images_with_false_{of}",
                f"Images without {of} in which it is predicted",
                Count(f"false_{of}"),
                best=0,
                worst=inf,
            )
            for of in classes
        ),
    )


def _mean_deviation() -> FunctionOfCases:
    """Return the mean of the standard deviations of the overlap metrics over the images (ddof = 0)."""

    def values(cases: WeightedCases) -> Floats:
        deviations = [weighted_deviation(cases.table[column], cases.weights) for column in OVERLAPS]
        return np.asarray(np.mean(deviations, axis=0))

    return FunctionOfCases(values)


def _overlaps(counts: segmentation.OverlapCounts[int]) -> dict[str, float]:
    return {name: figure(counts, both_empty=1.0) for name, (_, figure) in OVERLAPS.items()}


_REMEDY = ' (or outside = "keep" or "clip" in [options])'


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values) or not values:
        raise ValueError("expected distinct entries, at least one")
    return values


ClassName = Annotated[str, Key(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=40)]
Threshold = Annotated[float, Key(gt=0, le=1)]
SetName = Literal["in-sample", "out-of-sample"]
GeneralisationRanks = Literal["map_d_map_g_and_dev_g", "map_g_and_dev_g"]

SET = FormColumn("set", get_args(SetName))


class Edd2020Options(Options):
    """The paper's values, and choices for which the paper and its public evaluator differ."""

    classes: Annotated[tuple[ClassName, ...], AfterValidator(_distinct), IN_FORM] = Key(
        default=("BE", "suspicious", "HGD", "cancer", "polyp")
    )
    outside: Annotated[Outside, IN_FORM] = "error"
    reference_boxes: Literal["class_first", "class_last"] = "class_first"
    # Hundredths as the nearest float: a correctly rounded IoU of that value is equal to it.
    iou_thresholds: Annotated[tuple[Threshold, ...], AfterValidator(_distinct)] = tuple(
        hundredths / 100 for hundredths in range(25, 80, 5)
    )
    inclusive_corners: bool = True
    iou_of_score: Literal["iou_d", "iou_d_with_missed"] = "iou_d"
    generalisation_ranks: GeneralisationRanks = "map_d_map_g_and_dev_g"

    def recorded(self) -> dict[str, Any]:
        """Return the options as `metrics.json` holds them, without those that change no figure.

        Phases that differ only in those can be ranked together. The ranking of generalisation is included if
        it is set.
        """
        recorded = super().recorded()
        del recorded["reference_boxes"]
        if self.generalisation_ranks == "map_d_map_g_and_dev_g":
            del recorded["generalisation_ranks"]
        return recorded


def _tasks(options: Edd2020Options) -> tuple[Task, ...]:
    boxes = _boxes("detection", "Bounding boxes", "detection_bbox", options, in_sample=True)
    further_boxes = _boxes(
        "generalisation", "Bounding boxes, out of sample", "generalization_bbox", options, in_sample=False
    )
    files = Files("semantic_masks", (".tif", ".tiff"), suffix="_mask")
    masks = Field(
        name="masks",
        title="Masks of the classes",
        kind=MultilabelMask(options.classes),
        archive=files,
        socket=Socket("endoscopic-disease-segmentation", "images/endoscopic-disease-segmentation"),
        reference=Reference(MultilabelMask(options.classes), files),
        cases=_is_in_sample,
    )
    return (
        _detection(boxes, options),
        _segmentation(masks, options.classes),
        _generalisation(boxes, further_boxes, options),
    )


def _detection(boxes: Field, options: Edd2020Options) -> Task:
    """Return the task of section IV-A (Eq. 3 to 5)."""
    rules = _rules(options, reported=(0.25, 0.5, 0.75))
    return Task(
        name="detection",
        title="Detection of diseased regions",
        fields=(boxes,),
        score=lambda prediction, reference: box_columns(prediction[boxes.name], reference[boxes.name]),
        worst=lambda case, reference: box_columns(None, reference[boxes.name]),
        metrics=detection.detection_metrics(rules, with_missed=options.iou_of_score == "iou_d_with_missed"),
        details=lambda table: {
            "boxes_outside": int(table["outside"].sum()),
            **detection.image_details(rules, table),
        },
        notices=lambda table: [
            f"the reference has no box of {name}; mAP is the mean over the other classes"
            for name in rules.absent_classes(table)
        ],
    )


def _segmentation(masks: Field, classes: Sequence[str]) -> Task:
    """Return the task of section IV-B (Eq. 6)."""
    return Task(
        name="segmentation",
        title="Segmentation of diseased regions",
        fields=(masks,),
        score=lambda prediction, reference: multilabel_columns(
            prediction[masks.name], reference[masks.name], classes
        ),
        worst=lambda case, reference: worst_multilabel_columns(reference[masks.name], classes),
        metrics=multilabel_metrics(classes),
    )


def _generalisation(boxes: Field, further_boxes: Field, options: Edd2020Options) -> Task:
    """Return the task of section IV-C (Eq. 7)."""
    rules = _rules(options)
    sets = detection.TwoSets(rules, "out_of_sample", SET.values)

    def score(prediction: Values, reference: Values) -> Row:
        name = further_boxes.name if further_boxes.name in prediction else boxes.name
        return box_columns(prediction[name], reference[name]) | {"out_of_sample": int(name != boxes.name)}

    def worst(case: CaseForm, reference: Values) -> Row:
        name = boxes.name if _is_in_sample(case) else further_boxes.name
        return box_columns(None, reference[name]) | {"out_of_sample": int(name != boxes.name)}

    return Task(
        name="generalisation",
        title="Out-of-sample detection",
        fields=(boxes, further_boxes),
        score=score,
        worst=worst,
        metrics=sets.metrics(),
        details=sets.details,
        notices=sets.notices,
    )


def box_columns(predicted: Boxes | None, reference: Boxes) -> dict[str, Any]:
    """Return the columns of a detection task, and the number of predicted boxes that left the image.

    ``predicted`` None: the columns of a missing result.
    """
    boxes = Boxes(reference.rows[:0]) if predicted is None else predicted
    return {
        "predicted": boxes.rows,
        "reference": reference.rows,
        "missing": int(predicted is None),
        "outside": boxes.outside,
    }


def _rules(options: Edd2020Options, reported: tuple[float, ...] = ()) -> detection.DetectionRules:
    return detection.DetectionRules(
        options.classes,
        options.iou_thresholds,
        options.inclusive_corners,
        reported,
    )


def _is_in_sample(case: CaseForm) -> bool:
    return case.columns[SET.name] == SET.values[0]


def _boxes(name: str, title: str, folder: str, options: Edd2020Options, in_sample: bool) -> Field:
    kind = BoxList(
        attributes=Attributes(options.classes, with_probability=True),
        outside=options.outside,
        inclusive_corners=options.inclusive_corners,
    )
    files = Files(folder, (".txt",))
    return Field(
        name=f"{name}_boxes",
        title=title,
        kind=kind,
        archive=files,
        # An algorithm cannot know the set of an image.
        socket=Socket("endoscopic-disease-detection", "endoscopic-disease-detection.json"),
        reference=Reference(
            replace(
                kind,
                attributes=Attributes(options.classes),
                remedy=_REMEDY,
                class_last=options.reference_boxes == "class_last",
            ),
            files,
        ),
        cases=lambda case: _is_in_sample(case) == in_sample,
    )


def ranking(options: Edd2020Options) -> Scheme:
    """Return the leaderboards of the three tasks (section IV); ties by the smaller deviation.

    Section IV-C ranks generalisation by the gap, but wants high mAPs in and out of sample too, and gives no
    formula. Here the ranks of these are averaged, by option without the mAP in sample, with ties by the
    higher mAP out of sample.
    """
    maps = [Term(rank="generalisation.map_g")]
    if options.generalisation_ranks == "map_d_map_g_and_dev_g":
        maps.insert(0, Term(rank="detection.map_d"))
    return Scheme(
        boards=(
            Board(
                "detection", (Term(rank="detection.score_d"),), ties=(Term(rank="detection.sigma_score_d"),)
            ),
            Board(
                "segmentation",
                (Term(rank="segmentation.score_s"),),
                ties=(Term(rank="segmentation.sigma_score_s"),),
            ),
            Board(
                "generalisation",
                (*maps, Term(rank="generalisation.dev_g")),
                ties=(Term(rank="generalisation.map_g"),),
                combination="mean",
            ),
        )
    )


CHALLENGE = Challenge(
    name="edd2020",
    title="EDD2020: endoscopy disease detection, segmentation and generalisation",
    options=Edd2020Options,
    tasks=_tasks,
    components=(
        "detection.score_d",
        "detection.sigma_score_d",
        "segmentation.score_s",
        "segmentation.sigma_score_s",
        "generalisation.map_g",
        "generalisation.dev_g",
    ),
    form_columns=(SET,),
    ranking=ranking,
)

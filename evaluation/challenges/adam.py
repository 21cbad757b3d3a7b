"""ADAM, the Age-related Macular Degeneration challenge (Fang et al., IEEE Trans. Med. Imaging 41:2828, 2022).

Section 2.2: classification of AMD (task 1), detection and segmentation of the optic disc (task 2),
localisation of the fovea (task 3), detection and segmentation of five lesions (task 4).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf, nan
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, model_validator

from evaluation.core.case_table import Row
from evaluation.core.challenge import Challenge, Options, Task, Values
from evaluation.core.class_estimators import PresenceF1
from evaluation.core.classification import LIKELIHOOD, binary_classification
from evaluation.core.field import CaseColumns, Field, Files, HiddenField, Reference, Socket, TableColumns
from evaluation.core.form import CaseForm
from evaluation.core.keys import IN_FORM, Key
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.operating_rule import OperatingRule
from evaluation.core.scheme import Board, Scheme, Term
from evaluation.io.kinds.classes import LABEL, ImageSize
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.points import PointInImage, PointSet, distance
from evaluation.metrics.segmentation import dice_of_counts, overlap_of

STRUCTURE, ELSEWHERE = 0, 255

Structure = Literal["disc", "drusen", "exudate", "hemorrhage", "scar", "other"]
TITLES: Mapping[Structure, str] = {
    "disc": "optic disc",
    "drusen": "drusen",
    "exudate": "exudate",
    "hemorrhage": "hemorrhage",
    "scar": "scar",
    "other": "other lesions",
}
LESIONS: tuple[Structure, ...] = tuple(name for name in get_args(Structure) if name != "disc")
FOVEA = PointInImage(may_be_invisible=True)
_SIZE = HiddenField("size", Reference(ImageSize(), CaseColumns(ImageSize().columns)))
_FOLDERS = {name: name if name == "disc" else f"lesions/{name}" for name in TITLES}

_Folder = Annotated[str, Key(pattern=r"^[^/\\.][^/\\]*(/[^/\\.][^/\\]*)*$")]
_Table = Annotated[str, Key(pattern=r"^([^/\\.][^/\\]*/)*[^/\\.][^/\\]*\.csv$")]


# Section 3.1 reads the curves at a false-positive rate of 0.2.
AT_FALSE_POSITIVE_RATE = OperatingRule(LIKELIHOOD, "amd", specificity=1 - Fraction("0.2"))

_distance = partial(mean_metric, best=0, worst=inf)


def _complete(given: Mapping[Structure, str]) -> Mapping[Structure, str]:
    """Return the folders of all structures. Raises ValueError if one lies in another."""
    folders = {**_FOLDERS, **given}
    for name, folder in folders.items():
        for other, outer in folders.items():
            if name != other and f"{folder}/".casefold().startswith(f"{outer}/".casefold()):
                raise ValueError(f"the folder of {name}, {folder!r}, lies in that of {other}, {outer!r}")
    return folders


class AdamOptions(Options):
    """Names of the tables and folders in a submission."""

    classification_file: Annotated[_Table, IN_FORM] = "classification_results.csv"
    fovea_file: Annotated[_Table, IN_FORM] = "fovea_location_results.csv"
    folders: Annotated[Mapping[Structure, _Folder], AfterValidator(_complete), IN_FORM] = _FOLDERS

    @model_validator(mode="after")
    def _two_tables(self) -> Self:
        if self.classification_file.casefold() == self.fovea_file.casefold():
            raise ValueError(f"classification_file and fovea_file are both {self.fovea_file!r}")
        return self


def _tasks(options: AdamOptions) -> tuple[Task, ...]:
    """Return the four tasks; a team may take part in any of them, as Voxelcloud in Table 7."""
    in_pixels = "Euclidean distance in pixels"
    tasks = (
        binary_classification(
            "classification",
            "Classification of AMD",
            _risk(options),
            label="amd",
            operating_point=AT_FALSE_POSITIVE_RATE,
        ),
        _structures("disc", "Detection and segmentation of the optic disc", {"disc": ""}, options),
        Task(
            name="fovea",
            title="Localisation of the fovea",
            fields=(_fovea(options),),
            hidden=(_SIZE,),
            score=_score_fovea,
            metrics=(
                _distance("distance", in_pixels, unit="px"),
                _distance("distance_where_visible", f"{in_pixels} where the fovea is visible", unit="px"),
                _distance("distance_per_width", "Euclidean distance as a share of the image's width"),
                _f1("visible_f1", "F1 of a visible fovea", "predicted_visible", "visible"),
                _f1("invisible_f1", "F1 of an invisible fovea", "predicted_invisible", "invisible"),
            ),
            worst=_worst_fovea,
        ),
        _structures(
            "lesions",
            "Detection and segmentation of lesions",
            {lesion: f"{lesion}_" for lesion in LESIONS},
            options,
        ),
    )
    return tuple(replace(task, optional=True) for task in tasks)


def _structures(name: str, title: str, prefixes: Mapping[Structure, str], options: AdamOptions) -> Task:
    """Return the task of structures with one mask each; ``prefixes`` begin the names of their columns.

    Dice (Eq. 1) is averaged over the images whose reference has the structure. F1 of detection (Eq. 2) is
    computed over all images.
    """

    def score(prediction: Values, reference: Values) -> Row:
        row: dict[str, float] = {}
        for structure, prefix in prefixes.items():
            if structure in prediction:
                overlap = overlap_of(*(side[structure].region(1) for side in (prediction, reference)))
                row[f"{prefix}dice"] = dice_of_counts(overlap, both_empty=nan) if overlap.reference else nan
                row[f"{prefix}predicted"] = int(overlap.prediction > 0)
                row[f"{prefix}present"] = int(overlap.reference > 0)
        return row

    def worst(case: CaseForm, reference: Values) -> Row:
        row: dict[str, float] = {}
        for structure, prefix in prefixes.items():
            present = reference[structure].positions.size > 0
            row |= {f"{prefix}dice": 0.0 if present else nan, f"{prefix}present": int(present)}
        return row

    metrics: list[Metric] = []
    for structure, prefix in prefixes.items():
        of = TITLES[structure]
        dice = mean_metric(
            f"{prefix}dice", f"Dice of the {of}", best=1, worst=0, field=structure, structures=(of,)
        )
        metrics.append(dice)
        metrics.append(_f1(f"{prefix}f1", f"F1 of the {of}", f"{prefix}predicted", f"{prefix}present"))
    fields = tuple(_mask(structure, options) for structure in prefixes)
    return Task(name, title, fields, score, tuple(metrics), worst)


def _f1(name: str, title: str, predicted: str, present: str) -> Metric:
    return Metric(name, title, PresenceF1(predicted, present), best=1, worst=0)


def _score_fovea(prediction: Values, reference: Values) -> Row:
    predicted: PointSet = prediction["fovea"]
    true: PointSet = reference["fovea"]
    (width, _), _ = reference[_SIZE.name]
    # The ranking treats (0, 0) like any other point (section 2.2, task 3).
    visible = FOVEA.is_visible(predicted), FOVEA.is_visible(true)
    return _fovea_row(distance(predicted, true), width, *visible)


def _worst_fovea(case: CaseForm, reference: Values) -> Row:
    visible = FOVEA.is_visible(reference["fovea"])
    return _fovea_row(math.hypot(case.width, case.height), case.width, not visible, visible)


def _fovea_row(distance_pixels: float, width: float, predicted_visible: bool, visible: bool) -> Row:
    return {
        "distance": distance_pixels,
        "distance_where_visible": distance_pixels if visible else nan,
        "distance_per_width": distance_pixels / width,
        "predicted_visible": int(predicted_visible),
        "visible": int(visible),
        "predicted_invisible": int(not predicted_visible),
        "invisible": int(not visible),
    }


def _risk(options: AdamOptions) -> Field:
    return Field(
        name="amd_risk",
        title="Risk of AMD",
        kind=Number(0, 1),
        archive=TableColumns((options.classification_file,), "FileName", ("AMD Risk",)),
        socket=Socket("amd-risk", "amd-risk.json"),
        reference=Reference(LABEL, CaseColumns(("amd",))),
    )


def _fovea(options: AdamOptions) -> Field:
    return Field(
        name="fovea",
        title="Location of the fovea, (0, 0) where it is invisible",
        kind=FOVEA,
        archive=TableColumns((options.fovea_file,), "ImageName", ("Fovea_X", "Fovea_Y")),
        socket=Socket("fovea-location", "fovea-location.json"),
        reference=Reference(FOVEA, CaseColumns(("fovea_x", "fovea_y"))),
    )


def _mask(structure: Structure, options: AdamOptions) -> Field:
    kind = LabelMap({STRUCTURE: TITLES[structure]}, ELSEWHERE, dimensions=2)
    slug = f"{TITLES[structure]}-segmentation".replace(" ", "-")
    return Field(
        name=structure,
        title=f"Segmentation of the {TITLES[structure]}",
        kind=kind,
        archive=Files(options.folders[structure], (".png",)),
        socket=Socket(slug, f"images/{slug}"),
        reference=Reference(kind, Files(_FOLDERS[structure], (".png",))),
    )


def _detection_and_segmentation(name: str, prefix: str) -> Board:
    """Return the leaderboard of one structure (Eq. 3): 0.4 × rank of F1 + 0.6 × rank of Dice."""
    return Board(
        name,
        (Term(rank=f"{prefix}f1", weight=Decimal("0.4")), Term(rank=f"{prefix}dice", weight=Decimal("0.6"))),
    )


RANKING = Scheme(
    boards=(
        Board("classification", (Term(rank="classification.auc"),)),
        _detection_and_segmentation("disc", "disc."),
        Board("fovea", (Term(rank="fovea.distance"),)),
        *(_detection_and_segmentation(lesion, f"lesions.{lesion}_") for lesion in LESIONS),
        Board("lesions", tuple(Term(score=lesion) for lesion in LESIONS)),
        Board(
            "overall",
            (
                Term(place="classification", weight=Decimal("0.3")),
                Term(place="disc", weight=Decimal("0.1")),
                Term(place="fovea", weight=Decimal("0.1")),
                Term(place="lesions", weight=Decimal("0.5")),
            ),
            ties=(Term(place="classification"),),
        ),
    ),
    overall="overall",
    phases={"online": Decimal("0.3"), "onsite": Decimal("0.7")},
    # The paper's rule for ties does not say in which phase; the on-site phase weighs more (Eq. 6).
    phase_ties={"onsite": "classification"},
)

CHALLENGE = Challenge(
    name="adam",
    title="ADAM: age-related macular degeneration from fundus photographs",
    options=AdamOptions,
    tasks=_tasks,
    components=(
        "classification.auc",
        "disc.dice",
        "disc.f1",
        "fovea.distance",
        *(f"lesions.{lesion}_{metric}" for lesion in LESIONS for metric in ("dice", "f1")),
    ),
    ranking=lambda options: RANKING,
)

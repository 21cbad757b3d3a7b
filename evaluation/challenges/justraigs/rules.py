"""JustRAIGS, justified referral in AI glaucoma screening (challenge design document, ISBI 2024).

Section "Assessment methods": referral performance (P_ref, sensitivity at 95 % specificity) and justification
performance (P_just, a modified Hamming distance over ten additional labels of the referable eyes).
"""

from collections.abc import Mapping
from fractions import Fraction
from math import nan
from typing import Any

import numpy as np

from evaluation.challenges.justraigs import analyses, kinds
from evaluation.core.case_table import Row, ScoredCases
from evaluation.core.challenge import Challenge, Composite, FormColumn, Options, Task
from evaluation.core.class_estimators import SensitivityAtSpecificity, wilson_at_threshold
from evaluation.core.classification import LIKELIHOOD as LIKELIHOOD_COLUMN
from evaluation.core.classification import auc, binary_classification
from evaluation.core.estimator import Mean, Share
from evaluation.core.field import CaseColumns, Field, Reference, Socket, TableColumns
from evaluation.core.form import STACK_INDEX, STACK_NAME
from evaluation.core.metric import Metric
from evaluation.core.operating_rule import OperatingRule
from evaluation.core.scheme import Board, Scheme, Term
from evaluation.io.kinds.classes import LABEL, Flags, FlagSet
from evaluation.io.kinds.number import Number, TwoClasses
from evaluation.metrics.confusion import label_errors, modified_hamming_distance

REFERABLE, NOT_REFERABLE, UNGRADABLE = "RG", "NRG", "U"
FEATURES = (
    "appearance neuroretinal rim superiorly",
    "appearance neuroretinal rim inferiorly",
    "retinal nerve fiber layer defect superiorly",
    "retinal nerve fiber layer defect inferiorly",
    "baring of the circumlinear vessel superiorly",
    "baring of the circumlinear vessel inferiorly",
    "nasalization of the vessel trunk",
    "disc hemorrhages",
    "laminar dots",
    "large cup",
)
_ERRORS = tuple(f"{feature.replace(' ', '_')}_error" for feature in FEATURES)
_NOTHING: Flags = (None,) * len(FEATURES)
_NOT_JUSTIFIED: Row = {"distance": nan, "agreed_labels": nan} | dict.fromkeys(_ERRORS, nan)


OPERATING_POINT = OperatingRule(LIKELIHOOD_COLUMN, "referable", Fraction(95, 100))
"""Where the sensitivity is assessed (metrics, a)."""


class JustraigsOptions(Options):
    """A choice for which the design document and its public evaluator differ."""

    specialist_alone: bool = False


def _tasks(options: JustraigsOptions) -> tuple[Task, ...]:
    point = OPERATING_POINT
    sensitivity = SensitivityAtSpecificity(point.score, point.label, point.specificity)
    return (
        binary_classification(
            "referral",
            "Referral",
            LIKELIHOOD,
            label="referable",
            metrics=(
                Metric(
                    "sensitivity_at_95_specificity",
                    "Sensitivity at 95 % specificity",
                    sensitivity,
                    best=1,
                    worst=0,
                    fixed_intervals=wilson_at_threshold(sensitivity, "referable"),
                ),
                auc("referable"),
            ),
            details=lambda table: {
                "referable": analyses.count_of(table["referable"] == 1),
                "not_referable": analyses.count_of(table["referable"] == 0),
                "ungradable": analyses.count_of(np.isnan(table["referable"])),
            },
            operating_point=point,
        ),
        Task(
            name="decision",
            title="Binary decision on referral",
            fields=(DECISION,),
            score=lambda prediction, reference: _decision(prediction["decision"], reference["decision"]),
            worst=lambda case, reference: _decision(None, reference["decision"]),
            metrics=(
                _proportion("sensitivity", "Sensitivity of the decisions", "referred", best=1),
                _proportion("specificity", "Specificity of the decisions", "not_referred", best=1),
            ),
        ),
        Task(
            name="justification",
            title="Justification of referral",
            fields=(_features(options),),
            score=lambda prediction, reference: _justification(prediction["features"], reference["features"]),
            worst=lambda case, reference: _justification(_NOTHING, reference["features"]),
            metrics=(
                Metric("hamming_distance", "Modified Hamming distance", Mean("distance"), best=0, worst=1),
                *(
                    _proportion(column, f"Error rate: {feature}", column, best=0)
                    for column, feature in zip(_ERRORS, FEATURES, strict=True)
                ),
            ),
            details=lambda table: {
                "without_agreed_label": analyses.count_of(table["agreed_labels"] == 0),
                **{f"{column}_eyes": analyses.count_of(~np.isnan(table[column])) for column in _ERRORS},
            },
        ),
    )


def _decision(decision: int | None, referable: float) -> Row:
    """Return the columns of one eye; a missing decision is wrong."""
    right = float(decision == referable)
    return {"referred": right if referable == 1 else nan, "not_referred": right if referable == 0 else nan}


def _justification(features: Flags, agreed: Flags | None) -> Row:
    """Return the columns of one eye: NaN unless it is referable; a missing feature is wrong.

    Predicted and agreed features are recorded for every eye.
    """
    marks = {
        analyses.PREDICTED: analyses.marks_of(features),
        analyses.AGREED: analyses.marks_of(_NOTHING if agreed is None else agreed),
    }
    if agreed is None:
        return {**_NOT_JUSTIFIED, **marks}
    errors = label_errors(features, agreed)
    return {
        "distance": modified_hamming_distance(errors),
        "agreed_labels": float(sum(label is not None for label in agreed)),
        **dict(zip(_ERRORS, errors, strict=True)),
        **marks,
    }


def _analyses(options: JustraigsOptions, cases: ScoredCases) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    if kinds.FINAL_COLUMN in cases.cells:
        found["participants"] = analyses.participants(cases, kinds.FINAL_COLUMN, REFERABLE, NOT_REFERABLE)
    if {"referral", "justification"} <= cases.tables.keys():
        referral = next(task for task in _tasks(options) if task.name == "referral")
        found["referral_by_label"] = analyses.referral_by_label(
            cases.tables["referral"],
            cases.tables["justification"],
            FEATURES,
            OPERATING_POINT,
            referral.metrics,
        )
    return found


def _proportion(name: str, title: str, column: str, best: float) -> Metric:
    return Metric(name, title, Share(column), best=best, worst=1 - best)


def _features(options: JustraigsOptions) -> Field:
    main_labels = (REFERABLE, NOT_REFERABLE, UNGRADABLE)
    agreed = kinds.AgreedFeatures(len(FEATURES), main_labels, REFERABLE, options.specialist_alone)
    return Field(
        name="features",
        title="Glaucomatous features",
        kind=FlagSet(FEATURES),
        archive=TableColumns(("features.csv",), "Eye ID", FEATURES),
        socket=_socket("stacked-referable-glaucomatous-features"),
        reference=Reference(
            agreed, CaseColumns((kinds.FINAL_COLUMN, *kinds.LABEL_COLUMNS, *kinds.FEATURE_COLUMNS))
        ),
    )


def _socket(slug: str) -> Socket:
    return Socket(slug, f"{slug}.json", stacked=True)


_REFERABLE = Reference(
    TwoClasses((REFERABLE,), (NOT_REFERABLE,), (UNGRADABLE,)), CaseColumns((kinds.FINAL_COLUMN,))
)

LIKELIHOOD = Field(
    name="likelihood",
    title="Likelihood of referable glaucoma",
    kind=Number(),
    archive=TableColumns(("likelihoods.csv",), "Eye ID", ("Likelihood",)),
    socket=_socket("multiple-referable-glaucoma-likelihoods"),
    reference=_REFERABLE,
)

DECISION = Field(
    name="decision",
    title="Decision whether to refer",
    kind=LABEL,
    archive=TableColumns(("decisions.csv",), "Eye ID", ("Decision",)),
    socket=_socket("multiple-referable-glaucoma-binary-decisions"),
    reference=_REFERABLE,
)

RANKING = Scheme(
    boards=(
        Board("referral", (Term(rank="referral.sensitivity_at_95_specificity"),)),
        Board("justification", (Term(rank="justification.hamming_distance"),)),
        Board("overall", (Term(place="referral"), Term(place="justification"))),
    ),
    overall="overall",
)

CHALLENGE = Challenge(
    name="justraigs",
    title="JustRAIGS: justified referral for glaucoma from fundus photographs",
    options=JustraigsOptions,
    tasks=_tasks,
    components=("referral.sensitivity_at_95_specificity", "justification.hamming_distance"),
    composites=(
        Composite(
            "referral_and_justification_error",
            "(1 − sensitivity) + Hamming",
            ("referral.sensitivity_at_95_specificity", "justification.hamming_distance"),
            lambda sensitivity, distance: (1 - sensitivity) + distance,
            best=0,
            worst=2,
        ),
    ),
    missing="worst",
    provided=("the age of the person, in years",),
    form_columns=tuple(FormColumn(name, algorithm_only=True) for name in (STACK_NAME, STACK_INDEX)),
    ranking=lambda options: RANKING,
    analyses=_analyses,
    derived_columns=lambda options: kinds.agreed_columns(FEATURES, REFERABLE, options.specialist_alone),
)

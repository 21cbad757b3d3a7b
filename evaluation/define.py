"""The names with which a challenge is defined in Python, in a `challenge.py` beside `phase.toml`.

They are kept from version to version; other names of the package may move. `docs/add-a-challenge.md` shows
how they are used.
"""

from evaluation.core.aggregates import (
    agreement_of,
    average_precision_of,
    calibration_error_of,
    calibration_metric,
    concordance_of,
    confusion_of,
    macro_auc_of,
    partial_auc_of,
    ratio_of_sums,
    root_mean_square_of,
)
from evaluation.core.case_table import CaseTable, Row, WeightedCases
from evaluation.core.challenge import Challenge, Composite, FormColumn, Options, Task, Values
from evaluation.core.classification import auc, binary_classification
from evaluation.core.fault import Fault, FaultKind, FormFault
from evaluation.core.field import (
    CaseColumns,
    Field,
    FileAccess,
    Files,
    HiddenField,
    Kind,
    Reference,
    Socket,
    Source,
    TableColumns,
    TableRows,
    Variant,
)
from evaluation.core.form import STACK_INDEX, STACK_NAME, CaseForm
from evaluation.core.keys import IN_FORM, Key
from evaluation.core.metric import (
    Aggregate,
    Metric,
    auc_of,
    f1_of_presence_of,
    mean_metric,
    mean_of,
    proportion_of,
    sensitivity_at_specificity_of,
    strata_of_labels,
    sum_of,
)
from evaluation.core.scheme import Board, Method, Place, Rank, Scheme, Score
from evaluation.io.kinds.boxes import BoxList
from evaluation.io.kinds.classes import ClassLabel, ClassProbabilities, FlagSet
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.masks import LabelMask, MultilabelMask
from evaluation.io.kinds.number import Label, Number, TwoClasses
from evaluation.io.kinds.points import Keypoints, PointInImage, Points
from evaluation.io.kinds.probability_map import ProbabilityMap

__all__ = [
    "IN_FORM",
    "STACK_INDEX",
    "STACK_NAME",
    "Aggregate",
    "Board",
    "BoxList",
    "CaseColumns",
    "CaseForm",
    "CaseTable",
    "Challenge",
    "ClassLabel",
    "ClassProbabilities",
    "Composite",
    "Fault",
    "FaultKind",
    "Field",
    "FileAccess",
    "Files",
    "FlagSet",
    "FormColumn",
    "FormFault",
    "HiddenField",
    "Key",
    "Keypoints",
    "Kind",
    "Label",
    "LabelMap",
    "LabelMapValue",
    "LabelMask",
    "Method",
    "Metric",
    "MultilabelMask",
    "Number",
    "Options",
    "Place",
    "PointInImage",
    "Points",
    "ProbabilityMap",
    "Rank",
    "Reference",
    "Row",
    "Scheme",
    "Score",
    "Socket",
    "Source",
    "TableColumns",
    "TableRows",
    "Task",
    "TwoClasses",
    "Values",
    "Variant",
    "WeightedCases",
    "agreement_of",
    "auc",
    "auc_of",
    "average_precision_of",
    "binary_classification",
    "calibration_error_of",
    "calibration_metric",
    "concordance_of",
    "confusion_of",
    "f1_of_presence_of",
    "macro_auc_of",
    "mean_metric",
    "mean_of",
    "partial_auc_of",
    "proportion_of",
    "ratio_of_sums",
    "root_mean_square_of",
    "sensitivity_at_specificity_of",
    "strata_of_labels",
    "sum_of",
]

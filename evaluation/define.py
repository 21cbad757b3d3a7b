"""The names with which a challenge is defined in Python, in a `challenge.py` beside `phase.toml`.

They are kept from version to version; other names of the package may move. `docs/add-a-challenge.md` shows
how they are used.
"""

from evaluation.core.case_table import CaseTable as CaseTable
from evaluation.core.case_table import Row as Row
from evaluation.core.case_table import WeightedCases as WeightedCases
from evaluation.core.challenge import Challenge as Challenge
from evaluation.core.challenge import Composite as Composite
from evaluation.core.challenge import FormColumn as FormColumn
from evaluation.core.challenge import Options as Options
from evaluation.core.challenge import Task as Task
from evaluation.core.challenge import Values as Values
from evaluation.core.class_estimators import Agreement as Agreement
from evaluation.core.class_estimators import AveragePrecision as AveragePrecision
from evaluation.core.class_estimators import CalibrationError as CalibrationError
from evaluation.core.class_estimators import Concordance as Concordance
from evaluation.core.class_estimators import ConfusionFigure as ConfusionFigure
from evaluation.core.class_estimators import Determination as Determination
from evaluation.core.class_estimators import MacroRocArea as MacroRocArea
from evaluation.core.class_estimators import PartialRocArea as PartialRocArea
from evaluation.core.class_estimators import PresenceF1 as PresenceF1
from evaluation.core.class_estimators import RocArea as RocArea
from evaluation.core.class_estimators import SensitivityAtSpecificity as SensitivityAtSpecificity
from evaluation.core.class_estimators import calibration_error_of as calibration_error_of
from evaluation.core.class_estimators import calibration_metric as calibration_metric
from evaluation.core.class_estimators import strata_of_labels as strata_of_labels
from evaluation.core.classification import auc as auc
from evaluation.core.classification import binary_classification as binary_classification
from evaluation.core.estimator import ByGroup as ByGroup
from evaluation.core.estimator import Count as Count
from evaluation.core.estimator import Estimator as Estimator
from evaluation.core.estimator import Figure as Figure
from evaluation.core.estimator import Mean as Mean
from evaluation.core.estimator import MeanOfMeans as MeanOfMeans
from evaluation.core.estimator import Quantile as Quantile
from evaluation.core.estimator import RatioOfSums as RatioOfSums
from evaluation.core.estimator import RootMeanSquare as RootMeanSquare
from evaluation.core.estimator import Share as Share
from evaluation.core.estimator import Sum as Sum
from evaluation.core.fault import Fault as Fault
from evaluation.core.fault import FaultKind as FaultKind
from evaluation.core.fault import FormFault as FormFault
from evaluation.core.fault import PhaseError as PhaseError
from evaluation.core.field import CaseColumns as CaseColumns
from evaluation.core.field import Field as Field
from evaluation.core.field import Files as Files
from evaluation.core.field import HiddenField as HiddenField
from evaluation.core.field import Kind as Kind
from evaluation.core.field import Reference as Reference
from evaluation.core.field import Socket as Socket
from evaluation.core.field import TableColumns as TableColumns
from evaluation.core.field import TableRows as TableRows
from evaluation.core.field import Variant as Variant
from evaluation.core.form import STACK_INDEX as STACK_INDEX
from evaluation.core.form import STACK_NAME as STACK_NAME
from evaluation.core.form import CaseForm as CaseForm
from evaluation.core.keys import IN_FORM as IN_FORM
from evaluation.core.keys import Key as Key
from evaluation.core.metric import Metric as Metric
from evaluation.core.metric import mean_metric as mean_metric
from evaluation.core.scheme import Board as Board
from evaluation.core.scheme import Method as Method
from evaluation.core.scheme import Place as Place
from evaluation.core.scheme import Rank as Rank
from evaluation.core.scheme import Scheme as Scheme
from evaluation.core.scheme import Score as Score
from evaluation.core.sources import CellsSource as CellsSource
from evaluation.core.sources import FileAccess as FileAccess
from evaluation.core.sources import FileSource as FileSource
from evaluation.core.sources import JsonSource as JsonSource
from evaluation.core.sources import RowsSource as RowsSource
from evaluation.core.sources import Source as Source
from evaluation.core.sources import fault_at as fault_at
from evaluation.core.views import Choices as Choices
from evaluation.core.views import Numbers as Numbers
from evaluation.core.views import Objects as Objects
from evaluation.core.views import Regions as Regions
from evaluation.core.views import Voxels as Voxels
from evaluation.io.kinds.boxes import BoxList as BoxList
from evaluation.io.kinds.classes import ClassLabel as ClassLabel
from evaluation.io.kinds.classes import ClassProbabilities as ClassProbabilities
from evaluation.io.kinds.classes import FlagSet as FlagSet
from evaluation.io.kinds.displacement import Displacement as Displacement
from evaluation.io.kinds.displacement import DisplacementField as DisplacementField
from evaluation.io.kinds.instance_map import InstanceMap as InstanceMap
from evaluation.io.kinds.instance_map import InstanceMapValue as InstanceMapValue
from evaluation.io.kinds.label_map import LabelMap as LabelMap
from evaluation.io.kinds.label_map import LabelMapValue as LabelMapValue
from evaluation.io.kinds.masks import MultilabelMask as MultilabelMask
from evaluation.io.kinds.number import Number as Number
from evaluation.io.kinds.number import TwoClasses as TwoClasses
from evaluation.io.kinds.objects import Attributes as Attributes
from evaluation.io.kinds.objects import Space as Space
from evaluation.io.kinds.points import Keypoints as Keypoints
from evaluation.io.kinds.points import PointInImage as PointInImage
from evaluation.io.kinds.points import Points as Points
from evaluation.io.kinds.points import PointSet as PointSet
from evaluation.io.kinds.probability_map import NumberMap as NumberMap
from evaluation.io.kinds.probability_map import ProbabilityMap as ProbabilityMap
from evaluation.io.kinds.probability_map import ProbabilityMapValue as ProbabilityMapValue
from evaluation.io.kinds.volume import NO_REFERENCE as NO_REFERENCE
from evaluation.io.volumes import case_geometry as case_geometry
from evaluation.io.volumes import case_values as case_values
from evaluation.io.volumes import write_image as write_image

# Earlier names of the estimators
Aggregate = Figure
agreement_of = Agreement
auc_of = RocArea
average_precision_of = AveragePrecision
concordance_of = Concordance
confusion_of = ConfusionFigure
f1_of_presence_of = PresenceF1
macro_auc_of = MacroRocArea
mean_of = Mean
partial_auc_of = PartialRocArea
proportion_of = Share
ratio_of_sums = RatioOfSums
root_mean_square_of = RootMeanSquare
sensitivity_at_specificity_of = SensitivityAtSpecificity
sum_of = Sum

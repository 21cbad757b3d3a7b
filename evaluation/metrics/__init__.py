"""Metrics: pure functions on arrays, without files and without policy.

Every public name, here and in ``__all__``, is a function that takes plain arrays and returns floats, for use
in a notebook or another evaluation. It calls the code that `evaluate` runs. The prediction is always the first
argument and the reference the second one.

Each module holds one topic, and names in it follow one scheme:

- ``auc(scores, labels)`` is public: it checks its arguments and returns one value.
- ``weighted_auc(table, weights)`` is the same figure of columns of cases, or of a table of them, under each row
  of a matrix of case weights, such as those of a bootstrap. `evaluate` calls it.
- ``dice_of_counts(counts)`` is the same figure of quantities that are counted once for several figures: pixel
  counts, a confusion matrix, lesions.

The two public names with "weighted" as a term of the field are `weighted_dice`, of maps of confidences, and
`weighted_boxes_fusion`.
"""

from types import FunctionType

from evaluation.metrics.agreement import *
from evaluation.metrics.box_fusion import *
from evaluation.metrics.boxes import *
from evaluation.metrics.classification import *
from evaluation.metrics.confusion import *
from evaluation.metrics.decisions import *
from evaluation.metrics.detection import *
from evaluation.metrics.froc import *
from evaluation.metrics.intervals import *
from evaluation.metrics.label_surfaces import *
from evaluation.metrics.lesions import *
from evaluation.metrics.operating_points import *
from evaluation.metrics.points import *
from evaluation.metrics.probabilities import *
from evaluation.metrics.regression import *
from evaluation.metrics.sample_sizes import *
from evaluation.metrics.segmentation import *
from evaluation.metrics.surfaces import *
from evaluation.metrics.survival import *

# Each topic lists its public functions in its own ``__all__``.
__all__ = sorted(name for name, value in globals().items() if isinstance(value, FunctionType))

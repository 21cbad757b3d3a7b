"""A `challenge.py` whose masks follow each other in one image of a job, of a kind that is not declared."""

import numpy as np

from evaluation.define import (
    Challenge,
    Field,
    Files,
    FormColumn,
    Kind,
    Options,
    Reference,
    Regions,
    Socket,
    Task,
    Variant,
    case_values,
    mean_metric,
)
from evaluation.metrics.crops import Crop
from test.io.images import write_grey


class Outline(Kind):
    """The pixels above 0 of a grey image, an array (y, x)."""

    needs_size = True

    def read(self, source, case, files):
        return (case_values(source, case, files, 2)[0] > 0).astype(np.uint8)

    def pixels(self, case):
        return case.width * case.height

    @property
    def regions(self) -> Regions:
        return Regions(("outline",), lambda value: [Crop(value[np.newaxis] > 0, (0, 0, 0))])

    def rehearse(self, reference, case, variant):
        return {Variant.PERFECT: reference, Variant.EMPTY: np.zeros_like(reference)}.get(variant)

    def write_file(self, value, extension):
        return write_grey(value, extension)

    def describe(self):
        return "an outline"


PLACE = Files("outlines", (".png",))
FIELD = Field(
    "outline",
    "The outline",
    Outline(),
    PLACE,
    Reference(Outline(), PLACE),
    socket=Socket("o", "images/o", stacked=True),
)


def score(submitted, reference):
    return {"same": float(np.array_equal(submitted["outline"], reference["outline"]))}


TASK = Task("outlines", "Outlines", (FIELD,), score, (mean_metric("same", "Same", 1, 0),))
CHALLENGE = Challenge(
    "outlines",
    "Outlines",
    Options,
    lambda options: (TASK,),
    components=("outlines.same",),
    form_columns=(FormColumn("stack_name"), FormColumn("stack_index")),
)

"""Declared fields and metrics: the tables of `phase.toml` that all kinds and all metrics share."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

from pydantic import ValidationError, field_validator

from evaluation.core.case_table import CaseTable, Deriving, Row
from evaluation.core.challenge import FormColumn, Values
from evaluation.core.estimator import Estimator, QuantileTable, RatioOfSums, RootMeanSquare
from evaluation.core.field import (
    CaseColumns,
    Field,
    Files,
    HiddenField,
    Kind,
    Reference,
    Socket,
    TableColumns,
    TableRows,
)
from evaluation.core.form import STACK_INDEX, STACK_NAME
from evaluation.core.keys import Key, KeyTable
from evaluation.core.metric import Metric
from evaluation.core.sources import EntriesBy


class FieldTable(KeyTable, ABC):
    """One value that is submitted for each case; a subclass for each kind, told apart by ``kind``.

    A subclass sets ``kind: Literal["..."]``, and its docstring is the kind's entry in the documentation.
    """

    kind: str
    title: str | None = Key(default=None, description="Title for people. Default: the field's name in words.")
    socket: str | None = Key(
        default=None,
        description="Algorithm phases: slug of the platform's output socket. Default: the field's name with "
        "hyphens.",
    )
    output: str | None = Key(
        default=None,
        description="Algorithm phases: the socket's relative path, such as `results.json` or `images/masks`. "
        "Default: `<socket>.json`, or `images/<socket>` for images.",
    )

    is_image: ClassVar[bool] = False

    @property
    def entries_by(self) -> EntriesBy | None:
        """What tells the image of an entry in an output of a whole stack; None where each has its own."""
        return None

    @abstractmethod
    def field(self, name: str) -> Field:
        """Return the field of that name."""

    def hidden(self, name: str) -> tuple[HiddenField, ...]:
        """Return further labels that the metrics of a field need; by default none."""
        return ()

    def form_columns(self) -> tuple[FormColumn, ...]:
        """Return the columns of `cases.csv` that participants know because of this field; by default none."""
        return ()

    def cells_of_classes(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the cells of a reference for absent and for present; by default none."""
        return (), ()

    def declared_field(
        self,
        name: str,
        kind: Kind,
        archive: Files | TableColumns | TableRows,
        reference: Reference,
    ) -> Field:
        """Return the field of that name, with its title and its output socket."""
        slug = self.socket or name.replace("_", "-")
        default = f"images/{slug}" if self.is_image else f"{slug}.json"
        by = self.entries_by
        socket = Socket(slug, self.output or default, by is not None, by or "order")
        return Field(name, self.title_of(name), kind, archive, reference, socket=socket)

    def title_of(self, name: str) -> str:
        """Return the title of the field of that name."""
        return self.title or title_of(name)


STACK_COLUMNS = "`cases.csv` then has the columns `stack_name` and `stack_index`."


def stack_columns(stacked: bool) -> tuple[FormColumn, ...]:
    """Return the columns that tell the images of stacks."""
    names = (STACK_NAME, STACK_INDEX) if stacked else ()
    return tuple(FormColumn(name, algorithm_only=True) for name in names)


class RowFieldTable(FieldTable):
    """A field with one row of a table for each case, or a value in JSON."""

    table: str = Key(
        default="predictions.csv", description="The csv file of a submission that holds the field."
    )
    key_column: str = Key(default="case", description="Column of that table with the case's name.")
    stacked: bool = Key(
        default=False,
        description="Algorithm phases: each job runs on a stack of images and writes one JSON list of all, "
        f"in their order. {STACK_COLUMNS}",
    )

    @property
    def entries_by(self) -> EntriesBy | None:
        return "order" if self.stacked else None

    def form_columns(self) -> tuple[FormColumn, ...]:
        return stack_columns(bool(self.stacked))

    def row_field(
        self,
        name: str,
        kind: Kind,
        columns: Iterable[str],
        reference: Kind,
        reference_columns: Iterable[str],
    ) -> Field:
        """Return the named field with one row for each case: its columns in the table and in `cases.csv`."""
        archive = TableColumns((self.table,), self.key_column, tuple(columns))
        location = CaseColumns(tuple(reference_columns))
        return self.declared_field(name, kind, archive, Reference(reference, location))


Positive = Annotated[float, Key(gt=0, allow_inf_nan=False)]
"""A finite number above 0."""

Name = Annotated[str, Key(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _()-]*$", max_length=60)]
"""The name of a label or class as its owners write it."""


def figure_key(name: str) -> str:
    """Return a name as it stands in the name of a figure.

    Spaces and hyphens become underscores, and parentheses are left out.
    """
    return name.translate(_IN_FIGURES)


_IN_FIGURES = str.maketrans(" -", "__", "()")


_SPELLED = {
    word.lower(): word
    for word in (
        *("AUC", "Betti", "Brier", "CRPS", "Dice", "F1", "FROC", "Hausdorff", "HD95", "IoU", "MAE"),
        *("MS", "PSNR", "RMSE", "SSIM", "TRE"),
    )
}


def title_of(name: str) -> str:
    """Return the default title of a name: ``"surface_dice"`` gives "Surface Dice"."""
    parts = name.replace("-", "_").replace("_wise", "-wise").split("_")
    words = " ".join(_SPELLED.get(part, part) for part in parts)
    return words[:1].upper() + words[1:]


def in_words(name: str) -> str:
    """Return the name of a label or class as it is shown: ``"mitotic_figure"`` gives "mitotic figure"."""
    return name.replace("_", " ")


def titles_of_each(name: str, title: str, labels: Iterable[str]) -> dict[str, str]:
    """Return the title of a metric's figure of each label or class, by the name of the figure."""
    return {f"{name}_{figure_key(of)}": f"{title}, {in_words(of)}" for of in labels}


# --- A declared metric: its columns of a case, and its aggregation over cases ---


class FieldComparison(Deriving):
    """The submitted value of one field of one case, with its reference.

    ``references`` holds the reference values of all fields and hidden fields by name, ``all_submitted`` the
    submitted ones. Metrics of one field share intermediate results (see `derive`).
    """

    def __init__(
        self, field: str, submitted: Any, references: Values, all_submitted: Values | None = None
    ) -> None:
        self.field = field
        self.submitted = submitted
        self.references = references
        self.all_submitted: Values = all_submitted or {field: submitted}
        super().__init__()

    @classmethod
    def of_reference(cls, field: str, references: Values) -> "FieldComparison":
        """Return the comparison of a reference with itself, for figures that follow from references alone."""
        return cls(field, references[field], references)

    @cached_property
    def reference(self) -> Any:
        """The reference value of the field, read when it is first needed."""
        return self.read_reference()

    def read_reference(self) -> Any:
        """Return the reference value as it is compared."""
        return self.references[self.field]


def group_key(column: str) -> str:
    """Return the name of the label and of the column of rows that hold the group of a case."""
    return f"group_{column}"


def no_columns(references: Values) -> Row:
    """Return no column: the worst values follow from the metrics."""
    return {}


class Part(NamedTuple):
    """A figure of a case that is a ratio: a number, of how many; ``total``: how many both sides have."""

    number: float
    of: float
    total: float = 0.0

    def ratio(self, of_nothing: float) -> float:
        """Return the figure; ``of_nothing`` if neither side has anything, 0 if the other one has."""
        return self.number / self.of if self.of else 0.0 if self.total else of_nothing

    def times(self, weight: float) -> "Part":
        """Return the ratio of a case that counts with a weight, such as the volume of its voxels."""
        return Part(*(weight * each for each in self))


@dataclass(frozen=True)
class Sums:
    """The ratios that are the figures of a metric, whose parts can be summed over cases.

    ``row``, ``worst``: as of `Measure`, by the name of each figure. ``of_nothing``: the figure where the sum
    of all denominators is 0; NaN only where that follows from the reference. With ``has_total`` it is 0 there
    if the totals do not sum to 0. ``is_share``: as of `RatioOfSums`.
    """

    row: Callable[[FieldComparison], Mapping[str, Part]]
    worst: Callable[[Values], Mapping[str, Part]]
    of_nothing: float
    is_share: bool = False
    has_total: bool = False


@dataclass(frozen=True)
class LabelFigure:
    """Properties of the figure of a label or a landmark: range, unit, whether it tells good from bad."""

    best: float
    worst: float
    unit: str = ""
    ordered: bool = True


@dataclass(frozen=True)
class Measure:
    """The figures of one declared metric.

    ``row`` returns the columns of a case; columns that several metrics share have one name and one content.
    ``worst`` returns from the references of a case without a result the columns that do not follow from the
    metrics, see `core.challenge.Task`. ``details`` returns further content of the organiser's per-case file
    by key; metrics that share a key give it the same content. ``sums``: if each figure of a case is a ratio.
    ``of_cases``: means over cases of the same figures, where these are of all cases together.
    ``undefined``: as of `core.challenge.Task`.
    """

    metrics: tuple[Metric, ...]
    row: Callable[[FieldComparison], Row]
    worst: Callable[[Values], Row] = no_columns
    details: Callable[[CaseTable], Mapping[str, Any]] = lambda table: {}
    sums: Sums | None = None
    of_cases: "Measure | None" = None
    undefined: Callable[[Values], Collection[str]] = lambda references: ()

    def of_each(self, other: Callable[[str], Estimator]) -> "Measure":
        """Return the figures with another estimator of each column than its mean. Raises ValueError."""
        changed = (replace(one, estimator=one.estimator.of_each(other)) for one in self.metrics)
        return replace(self, metrics=tuple(changed))

    def root_mean_square(self) -> "Measure":
        """Return the roots of the mean squares over cases. Raises ValueError."""
        columns: dict[str, float] = {}

        def changed(metric: Metric) -> Metric:
            def estimator(column: str) -> Estimator:
                columns[column] = metric.worst
                return RootMeanSquare(column)

            return replace(metric, estimator=metric.estimator.of_each(estimator))

        metrics = tuple(map(changed, self.metrics))
        # The worst value of a mean's column follows from the metric, that of a square's does not.
        return replace(self, metrics=metrics, worst=lambda references: {**columns, **self.worst(references)})

    def by_group(self, column: str) -> "Measure":
        """Return the means over the groups of cases that a column of the case table names."""
        key = group_key(column)
        metrics = (replace(one, estimator=one.estimator.by_group(key)) for one in self.metrics)
        return replace(self.with_label(key), metrics=tuple(metrics))

    def with_label(self, key: str) -> "Measure":
        """Return the figures with a label of each case as a further column."""

        def labelled(row: Row, references: Values) -> Row:
            return {**row, key: references[key]}

        return replace(
            self,
            row=lambda comparison: labelled(self.row(comparison), comparison.references),
            worst=lambda references: labelled(self.worst(references), references),
        )

    def pooled(self) -> "Measure":
        """Return the ratios of the sums over all cases, not the means over cases. Raises ValueError."""
        sums = self.sums
        if sums is None:
            raise ValueError("there is no ratio of sums over cases for it")

        ends = ("number", "of", "total") if sums.has_total else ("number", "of")

        def columns(parts: Mapping[str, Part]) -> Row:
            return {
                f"{name}_{end}": float(getattr(part, end)) for name, part in parts.items() for end in ends
            }

        def ratio(column: str) -> RatioOfSums:
            total = f"{column}_total" if sums.has_total else None
            return RatioOfSums(
                f"{column}_number", f"{column}_of", sums.of_nothing, sums.is_share, total=total
            )

        return replace(
            self.of_each(ratio),
            row=lambda comparison: columns(sums.row(comparison)),
            worst=lambda references: columns(sums.worst(references)),
        )

    @classmethod
    def of_values(
        cls, metric: Metric, field_name: str, columns: Callable[[Any, Any], Row], missing: Any
    ) -> "Measure":
        """Return the measure of ``columns`` of submitted and true value; ``missing`` stands for no result."""
        return cls(
            (metric,),
            lambda comparison: columns(comparison.submitted, comparison.reference),
            lambda references: columns(missing, references[field_name]),
        )


OverCases = Literal["mean", "median", "root_mean_square", "pooled"]
"""How the figures of the cases become one, beside a `QuantileTable`."""

_A_QUANTILE = "{ quantile = 0.3 }"


def described(table: type[KeyTable], key: str) -> str:
    """Return the description of a key, for a table below that has another default."""
    return table.model_fields[key].description or ""


MATCHING = (
    "Which prediction is the hit of which object, of those that are near enough or overlap enough; the "
    "best is the nearest, or the one of the largest overlap. A metric has some of these words. `any`: an "
    "object is hit by the most probable of them, and no other of them is false. `optimal`: one to one, as "
    "many pairs as possible, and of these the best ones. "
    "`by_confidence`: each prediction, by falling probability, takes the best object that is not yet "
    "taken (COCO). `best_only`: it may take its best object alone, and is false if that is taken (PASCAL "
    "VOC). `nearest`: each object, in the order of the reference, takes the nearest prediction that is "
    "not yet taken. `nearest_only`: it takes the nearest of all, and is missed if that is taken (MONKEY). "
    "`most_confident`: it takes the most probable one that is not yet taken, of equal ones the nearest "
    "(PUMA). `best`: each object takes its best prediction (PENGWIN), `most_overlap`: the one with most "
    "voxels in common, in an instance map of any class (SPIDER); either may serve several objects, so "
    "that one that fills the image matches all. With a strict threshold of at least 0.5 of the `iou`, "
    "`any`, `optimal` and `best` are the same."
)
"""The description of the key ``matching``, one vocabulary for points, boxes, lesions and instances."""


class MetricTable(KeyTable, ABC):
    """One metric of a task; a subclass for each, told apart by ``metric``.

    A subclass sets ``metric: Literal["..."]`` and ``kinds``. Its docstring is its part of the card, see
    `declarable.card_of`.
    """

    metric: str
    field: str | None = Key(
        default=None, description="The field that is scored. Default: the only one that the metric scores."
    )
    title: str | None = Key(
        default=None, description="Title of the figure. Default: the metric's name in words."
    )

    over_cases: OverCases | QuantileTable | None = Key(
        default=None,
        description="How the figures of the cases become one. `mean`, `median`, `root_mean_square`, "
        f"`{_A_QUANTILE}`: of the figures of the cases. `pooled`: the figure of "
        "all cases together; where that of a case is a ratio, of the sums of its two parts, in which voxels "
        "weigh by their volume and pixels with a spacing by their area (HECKTOR). Default: `mean`, for "
        "figures that need several cases `pooled`.",
    )
    group: str | None = Key(
        default=None,
        description="Column of `cases.csv` with groups of cases, such as centres: the figure is computed in "
        "each, and the mean is over the groups that have one. Cases with an empty cell do not enter. A "
        "group is a cluster: it is resampled as a whole.",
    )

    @field_validator("over_cases", mode="before")
    @classmethod
    def _known(cls, how: object) -> object:
        if how is None or how in get_args(OverCases):
            return how
        try:
            return QuantileTable.model_validate(how)
        except ValidationError:
            known = ", ".join((*map(repr, get_args(OverCases)), _A_QUANTILE))
            raise ValueError(f"expected one of {known}, or another number that it may have") from None

    kinds: ClassVar[tuple[type[FieldTable], ...]] = ()
    own_title: ClassVar[str] = ""
    """Title of a figure that has the metric's own name, where that is not its words."""
    common: ClassVar[str] = ""
    """What the cards of all metrics below a class say after their ranges."""

    @abstractmethod
    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the figures of this metric under a name, for a field of one of its ``kinds``.

        Raises ValueError for options that do not fit the field, for example a label that it does not have.
        """

    @property
    def caution(self) -> str:
        """A sentence on a prediction that is worse and wins with these options; empty without any."""
        return ""

    def is_raised_by(self, labels: Collection[str], table: FieldTable) -> bool:
        """Return whether one of these labels, which no reference has, is perfect in a case without it."""
        return False

    def most_of_class(self) -> float:
        """Return how many submitted objects of a class in a case count at most."""
        return math.inf

    def needs_whole(self) -> bool:
        """Return whether images of a case are needed as a whole, rather than slab by slab."""
        return True

    def measured(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the figures of `measure` with the estimator over cases that is asked for.

        Raises ValueError as `measure`, and for an estimator that does not fit.
        """
        measure, how = self.measure(name, field_name, table), self.over_cases
        how = QuantileTable(quantile=0.5) if how == "median" else how
        own = "mean" if all(metric.estimator.is_mean for metric in measure.metrics) else "pooled"
        said = ""
        if how == "pooled" and all(metric.estimator.share_column for metric in measure.metrics):
            how = None  # a share of cases is both
        if how not in (None, own):
            if how == "pooled":
                measure = self._fitting(measure.pooled)
                said = ", all cases together" if self.group is None else ", cases together"
            else:
                if own == "pooled":
                    if measure.of_cases is None:
                        raise ValueError(f"over_cases: expected 'pooled': a single case has no {self.metric}")
                    measure, said = measure.of_cases, ", mean over cases"
                if how == "root_mean_square":
                    measure = self._fitting(measure.root_mean_square)
                    said = ", root mean square over cases"
                elif how != "mean":
                    estimator = how.estimator
                    measure = self._fitting(lambda: measure.of_each(estimator))
                    said = f", {how.words} over cases"
        if self.group is not None:
            measure, said = measure.by_group(self.group), f"{said}, mean over {in_words(self.group)}"
        if self.title or not said:
            return measure
        titled = (replace(metric, title=f"{metric.title}{said}") for metric in measure.metrics)
        return replace(measure, metrics=tuple(titled))

    def _fitting(self, change: Callable[[], Measure]) -> Measure:
        try:
            return change()
        except ValueError as error:
            raise ValueError(f"over_cases: expected another estimator of {self.metric}: {error}") from None

    def further_labels(self, table: FieldTable) -> tuple[HiddenField, ...]:
        """Return the labels that the metric needs beside those of its fields; ``table`` is its own."""
        if self.group is None:
            return ()
        from evaluation.io.kinds.classes import CellText  # most phases need none of that module

        return (HiddenField(group_key(self.group), Reference(CellText(), CaseColumns((self.group,)))),)

    def further_fields(self, table: FieldTable, fields: Mapping[str, FieldTable]) -> tuple[str, ...]:
        """Return the names of other fields that the metric needs beside its own; by default none.

        Raises ValueError where one of them does not exist or does not fit.
        """
        return ()

    def title_of(self, name: str) -> str:
        """Return the title of the figure of that name."""
        own_title = self.own_title if name == self.metric else ""
        return self.title or own_title or title_of(name)

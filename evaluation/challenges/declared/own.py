"""Metrics of a phase's own: functions of `metrics.py` beside `phase.toml`, from plain values to figures."""

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

import numpy as np
import pydantic
from pydantic import FiniteFloat, JsonValue

from evaluation.challenges.declared import tables
from evaluation.challenges.declared.classes import DecisionField
from evaluation.challenges.declared.maps import ImageFieldTable, StructureField
from evaluation.challenges.declared.scalars import NumberField
from evaluation.core.case_table import Row, WeightedCases
from evaluation.core.challenge import Values
from evaluation.core.class_estimators import strata_of_labels
from evaluation.core.entry_points import own_entries
from evaluation.core.estimator import FunctionOfCases, Mean, strata_of_column
from evaluation.core.fault import PhaseError
from evaluation.core.field import CaseColumns, HiddenField, Reference
from evaluation.core.keys import Key, KeyTable
from evaluation.core.metric import Metric
from evaluation.io.kinds.classes import CellText
from evaluation.metrics.arrays import Floats
from evaluation.phase.registry import METRICS_FILE, FigureError, function_named, knows_functions

_CASE = "case_name"
_CLASSES, _PROBABILITIES = "classes", "probabilities"
_GIVEN = (
    *("case", "spacing_mm"),
    *(f"{side}_{what}" for side in ("prediction", "reference") for what in (_CLASSES, _PROBABILITIES)),
)
"""What a function may ask for beside the keys of its table."""


class OwnFunction(KeyTable):
    """A function as `registry.functions_beside` describes it."""

    card: str = Key(description="Its docstring.")
    line: int = Key(description="The line of the file where it begins.")
    values: int = Key(description="How many values it takes by position, at most 2.")
    asks: dict[str, bool] = Key(description="The names that it takes after them; true for those it needs.")


class OwnMetrics(KeyTable):
    """The functions of a phase by name, and the digest of their file."""

    sha256: str = Key(description="The digest of their file.")
    functions: dict[str, OwnFunction] = Key(description="The functions by name.")


class OwnMetric(tables.MetricTable):
    """A metric that is a function of the phase."""

    best: FiniteFloat = Key(description="The best figure. A better one is an error of the function.")
    worst: FiniteFloat = Key(
        description="The worst figure: that of a case without a result, and of what is worse than it."
    )
    unit: str = Key(default="", description="Unit of the figure.")
    per_label: bool = Key(
        default=False,
        description="Whether the function returns a number for each label of the field in their order, or "
        "for each of its classes. The figure of the metric's name is their mean.",
    )

    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (tables.FieldTable,)
    function: ClassVar[OwnFunction]
    sha256: ClassVar[str]

    @pydantic.model_validator(mode="after")
    def _ordered(self) -> "OwnMetric":
        if self.best == self.worst:
            raise ValueError(f"expected a best and a worst figure that differ, found {self.best:g} twice")
        if self.per_label and self.over_cases == "pooled":
            raise ValueError("per_label: expected false with over_cases = 'pooled'")
        return self

    @property
    def _place(self) -> str:
        return f"{METRICS_FILE}, line {self.function.line}"

    def call(self, prediction: Any, reference: Any, given: Mapping[str, Any]) -> Any:
        """Return what the function returns; ``given``: what it may ask for. Raises its errors."""
        own = {name: getattr(self, name) for name in self.function.asks if name not in _GIVEN}
        asked = {name: given[name] for name in self.function.asks if name in _GIVEN}
        keys = {name: value for name, value in own.items() if value is not None}
        return function_named(self.metric, self.sha256)(prediction, reference, **asked, **keys)

    def figure(self, value: object) -> float:
        """Return a value as a figure: NaN, or between best and worst. Raises `FigureError`."""
        number = value.item() if isinstance(value, np.ndarray | np.generic) and value.size == 1 else value
        if not isinstance(number, numbers.Real):
            raise FigureError(
                self._place, f"{self.metric}: expected a number, found {_in_words(value)}{self._hint}"
            )
        found = abs(float(number)) if self.over_cases == "root_mean_square" else float(number)
        low, high = sorted((self.best, self.worst))
        beyond = found - self.best if self.best > self.worst else self.best - found
        if beyond > 1e-9 * max(1.0, abs(self.best)):
            expected = f"expected {'at most' if self.best > self.worst else 'at least'} best = {self.best:g}"
            raise FigureError(self._place, f"{self.metric}: {expected}, found {found:g}")
        return min(max(found, low), high) if found == found else found

    @property
    def _hint(self) -> str:
        return "" if self.per_label else "; one for each label needs per_label = true"

    def figures(self, value: object, names: Sequence[str]) -> list[float]:
        """Return a figure for each name. Raises `FigureError`."""
        is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
        if not is_list or len(cast(Sequence[object], value)) != len(names):
            expected = f"expected {len(names)} numbers, for {', '.join(names)}"
            raise FigureError(self._place, f"{self.metric}: {expected}, found {_in_words(value)}")
        return list(map(self.figure, cast(Sequence[object], value)))

    def further_labels(self, table: tables.FieldTable) -> tuple[HiddenField, ...]:
        name = HiddenField(_CASE, Reference(CellText(), CaseColumns(("name",))))
        return (*super().further_labels(table), *((name,) if "case" in self.function.asks else ()))

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        if table.kind not in _PLAIN:
            raise ValueError(f"{self._place}: expected a field of kind {', '.join(_PLAIN)}")
        if getattr(table, "lesions", None):
            raise ValueError(f"{self._place}: expected points without lesions")
        if self.function.values < 2:
            raise ValueError(f"{self._place}: expected {self.metric}(prediction, reference, …)")
        if "spacing_mm" in self.function.asks:
            if not isinstance(table, ImageFieldTable):
                raise ValueError(f"{self._place}: spacing_mm: expected a field of images")
            if not table.in_mm:
                raise ValueError(f"{self._place}: spacing_mm: expected has_spacing = true")
        if self.over_cases == "pooled":
            return self._of_all(name, field_name, table)
        labels = self._labels(table) if self.per_label else []
        title = self.title_of(name)
        columns = tables.titles_of_each(name, title, labels)

        def row(comparison: tables.FieldComparison) -> Row:
            found = self._called(comparison, table)
            if not self.per_label:
                return {name: self.figure(found)}
            figures = self.figures(found, labels)
            defined = [figure for figure in figures if figure == figure]
            whole = sum(defined) / len(defined) if defined else math.nan
            return {name: whole, **dict(zip(columns, figures, strict=True))}

        def worst(references: Values) -> Row:
            # Whether a case enters follows from its reference, which is compared with itself.
            perfect = row(tables.FieldComparison.of_reference(field_name, references))
            return {key: self.worst if value == value else value for key, value in perfect.items()}

        metrics = tuple(
            Metric(column, of, Mean(column), self.best, self.worst, unit=self.unit, field=field_name)
            for column, of in {name: title, **columns}.items()
        )
        return tables.Measure(metrics, row, worst)

    def _labels(self, table: tables.FieldTable) -> list[str]:
        if isinstance(table, StructureField):
            return list(table.labels.values())
        if classes := getattr(table, "classes", None):
            return list(map(str, classes))
        raise ValueError(f"per_label: expected a field with labels or classes, found kind {table.kind}")

    def _called(self, comparison: tables.FieldComparison, table: tables.FieldTable) -> Any:
        """Return what the function returns for a case; NaN where its reference is excluded."""
        reference = comparison.reference
        if isinstance(reference, float) and math.isnan(reference):
            return [math.nan] * len(self._labels(table)) if self.per_label else math.nan
        plain = _PLAIN[table.kind]
        submitted = comparison.derive(("plain", True), lambda given: _fixed(plain(given.submitted, table)))
        true = comparison.derive(("plain", False), lambda given: _fixed(plain(given.reference, table)))
        given = {"case": comparison.references[_CASE]} if "case" in self.function.asks else {}
        for name in self.function.asks:
            if name in _GIVEN and name not in given:
                value = comparison.submitted if name.startswith("prediction") else reference
                given[name] = (
                    value.spacing_mm[-cast(ImageFieldTable, table).dimensions :]
                    if name == "spacing_mm"
                    else _attribute(name.partition("_")[2], value, table)
                )
        return self.call(submitted, true, given)

    def _of_all(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        if not isinstance(table, NumberField | DecisionField):
            raise ValueError("over_cases: expected a field of kind number or decision for 'pooled'")
        if asked := [one for one in self.function.asks if one in _GIVEN]:
            raise ValueError(f"{self._place}: {asked[0]} is of one case, and over_cases = 'pooled' of all")
        made, true = f"{name}_prediction", f"{name}_reference"
        decided = isinstance(table, DecisionField)
        classes = decided or table.two_classes is not None
        bounded = isinstance(table, NumberField) and math.isfinite(table.range)
        if not (classes or bounded):
            raise ValueError(
                f"field {field_name!r}: expected minimum and maximum, for cases without a result"
            )

        def missing(reference: float) -> float:
            if decided:
                return 1 - reference
            if classes and not bounded:
                return -math.inf if reference else math.inf
            low, high = (getattr(table, key) for key in ("minimum", "maximum"))
            far = 0.5 if classes else (low + high) / 2
            return float(low if reference > far else high)

        def value(column: Floats, reference: Floats) -> float:
            try:
                return self.figure(self.call(_fixed(column), _fixed(reference), {}))
            except FigureError as error:
                raise PhaseError(f"{error.place}: {error}") from None
            except PhaseError:
                raise
            except Exception as error:
                raise PhaseError(f"{self._place}: {self.metric}: {type(error).__name__}: {error}") from None

        known = knows_functions(self.sha256)  # else whoever ranks has the recorded figures alone

        def values(cases: WeightedCases) -> Floats:
            if not known:
                return np.full(len(cases.weights), np.nan)
            columns = [cases.table[column] for column in (made, true)]
            enters = ~np.isnan(columns[1])
            times = np.rint(cases.weights[:, enters]).astype(np.int64)
            drawn = ([np.repeat(column[enters], row) for column in columns] for row in times)
            return np.array([value(*both) if len(both[0]) else math.nan for both in drawn])

        strata = strata_of_labels if classes else strata_of_column
        figure = FunctionOfCases(values, lambda cases: strata(cases, true))
        metric = Metric(
            name,
            self.title_of(name),
            figure,
            self.best,
            self.worst,
            no_interval=None if known else f"--ground-truth has its {METRICS_FILE}",
            unit=self.unit,
        )

        def row(submitted: float, reference: float) -> Row:
            return {made: float(submitted), true: float(reference)}

        return tables.Measure(
            (metric,),
            lambda comparison: row(comparison.submitted, comparison.reference),
            lambda references: row(missing(references[field_name]), references[field_name]),
        )


def own_tables(described: object) -> dict[str, type[OwnMetric]]:
    """Return a table for each function. Raises `PhaseError` for a name or a keyword that is ours."""
    own = OwnMetrics.model_validate(described)
    problems, found = [], {}
    for name, function in own.functions.items():
        place = f"{METRICS_FILE}, line {function.line}"
        if name in own_entries("evaluation.metrics"):
            problems.append(f"{place}: {name!r} is a metric of this package: expected another name")
        problems += [
            f"{place}: {key!r} is a key of every metric: expected another name"
            for key in function.asks
            if key in OwnMetric.model_fields
        ]
        keys: dict[str, Any] = {
            key: (JsonValue, ...) if required else (JsonValue, None)
            for key, required in function.asks.items()
            if key not in (*_GIVEN, *OwnMetric.model_fields)
        }
        keys["metric"] = (Literal[name], ...)
        table = pydantic.create_model(name, __base__=OwnMetric, __doc__=function.card, **keys)
        table.function, table.sha256 = function, own.sha256
        found[name] = table
    PhaseError.raise_all(problems)
    return found


# --- Plain values of each kind ---


def _fixed(value: Any) -> Any:
    """Return a value that no function can change for another."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def _in_words(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, list | tuple):
        return f"{len(value)} values"
    return {dict: "a dictionary", str: f"the text {value!r}", type(None): "None"}.get(
        type(value), f"a {type(value).__name__}"
    )


def _image(values: Any, table: Any) -> Any:
    return values.reshape(values.shape[3 - table.dimensions :])


def _findings(value: Any, table: Any) -> Any:
    if not hasattr(value, "confidences"):
        return _image(value.whole, table)
    confidences = np.concatenate([np.zeros(1), value.confidences])
    return _image(confidences[value.crop.whole(value.shape)], table)


def _class(value: Any, table: Any) -> Any:
    return table.classes[int(value)]


def _probabilities(value: Any, table: Any) -> Any:
    if isinstance(value, float):  # the class that is true
        return (np.arange(len(table.classes)) == value).astype(np.float64)
    return np.array(value, np.float64)


def _flags(value: Any, table: Any) -> Any:
    return np.array([math.nan if one is None else one for one in value], np.float64)


_PLAIN: Mapping[str, Callable[[Any, Any], Any]] = {
    "label_map": lambda value, table: _image(value.whole, table),
    "instance_map": lambda value, table: _image(value.whole_objects, table),
    "probability_map": lambda value, table: _image(value.whole, table),
    "detection_map": _findings,
    "image": lambda value, table: _image(value.whole, table),
    "number": lambda value, table: float(value),
    "decision": lambda value, table: int(value),
    "class": _class,
    "class_probabilities": _probabilities,
    "flags": _flags,
    "presence_probabilities": _flags,
    "points": lambda value, table: value.positions,
    "point": lambda value, table: value.positions[0],
    "keypoints": lambda value, table: value.positions,
    "boxes": lambda value, table: value.rows[:, 2:],
    "box": lambda value, table: value.rows[0, 2:],
}
"""The value of a kind as a function gets it; docs/add-a-challenge.md says what each is."""


def _attribute(what: str, value: Any, table: Any) -> Any:
    """Return the class or the probability of each object of a value, or of each landmark its name."""
    names = list(getattr(table, "labels", {}).values()) or list(getattr(table, "classes", ()))
    if hasattr(value, "rows"):
        found = value.rows[:, 0] if what == _CLASSES else value.rows[:, 1]
    elif what == _PROBABILITIES:
        found = value.probabilities
    else:
        found = value.classes - (1 if hasattr(value, "objects") else 0)
    if what == _PROBABILITIES:
        return _fixed(found)
    return [names[int(one)] if names else "" for one in found]

"""Public functions have the options of the catalogue's metrics: the same names and defaults."""

import inspect

from evaluation import metrics
from evaluation.challenges.declared.declarable import METRICS, name_of
from evaluation.challenges.declared.tables import MetricTable

# Metrics of the catalogue of which one function returns several.
NAMES = {
    **dict.fromkeys(("point_f1", "point_precision", "point_recall"), "match_points"),
    **dict.fromkeys(("recognition_quality", "segmentation_quality"), "panoptic_quality"),
}
# Options that choose or complete the cases of a phase; a function is given its arrays.
OF_PHASES = {
    "threshold": "decisions are made of scores by the caller",
    "above": "as threshold",
    "area": "the caller divides by an area",
    "lowest_threshold": "the caller leaves out the least confident predictions",
    "distances": "the caller gives a spacing of 1",
    "level_separator": "the caller gives the classes of a level",
    "of_nothing": "the functions sum over cases",
    "of": "the class that counts as positive is the caller's 1",
    "labels": "the caller chooses a label; the functions for label maps require them",
    "absent": "the caller leaves a label out",
    "mean": "the caller averages over labels and cases",
    "unit": "the caller divides mm³ by 1000",
    "strict": "the functions of masks take what touches, those of quality what overlaps by more than half",
    "agreement": "as strict",
    "matching": "as strict",
    "over_annotators": "the caller compares with each annotator, or with their consensus",
}
# Options of one metric that its function has in another form, and why.
EXCEPTIONS = {
    ("bias", "worst"): "of a missing result",
    ("mean_absolute_error", "worst"): "of a missing result",
    ("mean_radial_error", "unpredicted"): "of names",
    ("mean_radial_error", "worst"): "of a missing result",
    ("normalised_absolute_error", "worst"): "of a missing result",
    ("root_mean_squared_error", "worst"): "of a missing result",
    ("lesion_count_difference", "worst"): "of a missing result",
    ("false_lesions", "worst"): "of a missing result",
    ("froc", "radius"): "an array has no diameter that could be the default: required",
    ("point_f1", "radius"): "as froc",
    ("point_precision", "radius"): "as froc",
    ("point_recall", "radius"): "as froc",
}
COMMON = set(MetricTable.model_fields)


def options():
    for table in METRICS:
        name = name_of(table)
        if NAMES.get(name, name) in metrics.__all__:
            for option, field in table.model_fields.items():
                if option not in COMMON | {"metric"}:
                    yield name, option, field


def test_options_have_the_names_and_defaults_of_the_catalogue():
    compared, differing = set(), set()
    for name, option, field in options():
        parameter = inspect.signature(getattr(metrics, NAMES.get(name, name))).parameters.get(option)
        if option in OF_PHASES and (parameter is None or option == "labels"):
            continue
        compared.add((name, option))
        same = parameter is not None and (
            parameter.default is inspect.Parameter.empty
            if field.is_required()
            else comparable(parameter.default) == comparable(field.default)
        )
        differing |= set() if same else {(name, option)}
    assert differing == compared & set(EXCEPTIONS)
    assert len(compared) > 50


def comparable(default):
    return list(default) if isinstance(default, tuple) else default


def test_the_stated_names_and_exceptions_exist():
    known = {name_of(table): set(table.model_fields) for table in METRICS}
    assert set(NAMES) <= set(known)
    assert {option for name, option in EXCEPTIONS if option not in known[name]} == set()
    assert set(OF_PHASES) <= set.union(*known.values())
    assert set(NAMES.values()) <= set(metrics.__all__)

"""No metric, whatever its options, prefers what tells nothing of an image to a nearly perfect prediction."""

import itertools
import typing

import numpy as np
import pytest
from scipy import ndimage

from evaluation.challenges.declared.declarable import FIELDS, METRICS, name_of
from evaluation.organiser.rehearsal import rehearse
from evaluation.organiser.rehearsal.from_views import ALIKE, GRID, WHOLE
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.catalogue import OPTIONS, in_toml
from test.examples.awkward import Scored, write_maps, write_table

ALL_FOUND = "a share of what the reference has: whatever is everywhere finds all"
NOTHING_FALSE = "a figure of false lesions alone: one that fills the image touches all"
TOUCHED = "all lesions touch one mask of the whole image, which its caution says"
FREE = "false objects cost nothing, which its caution says"
ONE_FOR_ALL = "one object may match several, which its caution says"
WITHOUT_LOWEST = "a perfect result with one confidence has 0, which its caution says"
LESS_PROBABLE = "a curve asks for all predictions, and those of the grid come last"
EXCEPTIONS = {
    "voxel_sensitivity": ALL_FOUND,
    "detected_lesions": ALL_FOUND,
    "false_negative_volume": ALL_FOUND,
    "point_recall": ALL_FOUND,
    "box_recall": ALL_FOUND,
    "box_average_recall": ALL_FOUND,
    "false_positive_volume": NOTHING_FALSE,
    "false_lesions": NOTHING_FALSE,
    "segmentation_quality": "a mean over the objects that match, of whatever number",
    "lesion_f1": TOUCHED,
    "matched_dice missed": FREE,
    "matched_surface_distance missed": FREE,
    "matched_dice matching": ONE_FOR_ALL,
    "matched_surface_distance matching": ONE_FOR_ALL,
    "froc lowest_threshold excluded": WITHOUT_LOWEST,
    "box_froc lowest_threshold excluded": WITHOUT_LOWEST,
    "average_surface_distance directions to_reference": "what is missed costs nothing, says its caution",
}
WHERE_ONE_IS_MISSED = {
    "hausdorff_distance": "the largest distance is that of the missed object, which a grid comes near to",
    "average_surface_distance": "the missed object is far from all others, and a grid comes near to it",
    "volume_difference": "the volume alone, wherever it is",
    "volume_similarity": "the volume alone, wherever it is",
    **dict.fromkeys(("froc", "box_froc", "box_average_precision"), LESS_PROBABLE),
}
ALL, THREE = "all objects", "three of four"
LABELS = 'labels = { 1 = "a" }'
FIELD = {
    "label_map": f'kind = "label_map"\n{LABELS}',
    "instance_map": f'kind = "instance_map"\n{LABELS}',
    "points": 'kind = "points"\ndimensions = 2\nunit = "pixels"\nprobability = true\nat_most = 10000',
    "boxes": 'kind = "boxes"\nprobability = true\nat_most = 10000',
    "probability_map": 'kind = "probability_map"',
    "detection_map": 'kind = "detection_map"',
}
LISTED = ("points", "boxes")


def options_of(table):
    """Yield each option with each of the values that it lists, one at a time, and first none."""
    yield {}
    for key, field in table.model_fields.items():
        if key in ("metric", "mean", "over_annotators", "absent"):
            continue
        values = (True, False) if field.annotation is bool else typing.get_args(field.annotation)
        for value in values if values and all(isinstance(of, (str, bool)) for of in values) else ():
            yield {key: value}
            if key in ("percentile_method", "surface_neighbours"):
                yield {key: value, "surface": "voxels"}


def metrics_of(kind):
    """Return the metrics of a kind with their options, by the name of the figure."""
    (field,) = (of for of in FIELDS if name_of(of) == kind)
    table, found = field.model_validate({"kind": kind, **_given(kind)}), {}
    for metric in (of for of in METRICS if issubclass(field, of.kinds)):
        name = name_of(metric)
        if "probabilities" in OPTIONS.get(name, {}):
            continue  # of further fields
        for options in options_of(metric):
            keys = {"metric": name, **OPTIONS.get(name, {}), **options}
            try:
                metric.model_validate(keys).measured("figure", "field", table)
            except (ValueError, AssertionError):
                continue
            found[f"figure_{len(found)}"] = keys
    return found


def _given(kind):
    options = {"labels": {"1": "a"}} if kind in ("label_map", "instance_map") else {}
    options |= {"probability": True} if kind in LISTED else {}
    return options | ({"dimensions": 2, "unit": "pixels"} if kind == "points" else {})


def is_excepted(keys, honest):
    if honest == THREE and keys["metric"] in WHERE_ONE_IS_MISSED:
        return True
    said = [keys["metric"]] + [f"{keys['metric']} {key}" for key in keys]
    said += [f"{keys['metric']} {key} {value}" for key, value in keys.items()]
    return any(words in EXCEPTIONS for words in said)


def configuration(folder, kind, metrics):
    lines = ['name = "blind"', 'title = "Blind"', 'submission = "archive"', "value_digits = 9"]
    lines += ["[fields.field]", FIELD[kind], "[tasks.task.metrics]"]
    lines += [f"{name} = {in_toml(keys)}" for name, keys in metrics.items()]
    (folder / "phase.toml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder / "phase.toml"


def objects(number_each, *boxes):
    image = np.zeros((12, 24, 24), np.uint16)
    for number, (z, y, x, side) in enumerate(boxes, start=1):
        image[z : z + side, y : y + side, x : x + side] = number if number_each else 1
    return image


PLACES = ((2, 2, 2, 5), (2, 14, 2, 5), (2, 2, 14, 5), (6, 15, 15, 4))


def predictions(each):
    """Return the reference, nearly perfect predictions of all and of three objects, and blind ones."""
    true, three = objects(each, *PLACES), objects(each, *PLACES[:3])
    near, three = np.roll(true, 1, 2), np.roll(three, 1, 2)
    grid = np.zeros_like(true)
    grid[1::4, 1::4, 1::4] = 1
    if each:
        grid[grid > 0] = np.arange(10, 10 + grid.sum())
    blind = {"whole": np.ones_like(true), "grid": grid, "empty": 0 * true}
    beside = {
        f"{name} beside a grid": np.where(of == 0, grid, of) for name, of in ((ALL, near), (THREE, three))
    }
    return true, {ALL: near, THREE: three, **blind, **beside}


def likely():
    """Return a mask, and predictions as maps of values up to 1, with one value in each component."""
    true, masks = predictions(False)
    values = {"whole": np.ones(true.shape, np.float32), "halves": np.full(true.shape, 0.5, np.float32)}
    values |= {name: np.float32(0.5) * (masks[name] > 0) for name in ("grid", "empty")}
    for name in (ALL, THREE):
        numbers, _ = ndimage.label(masks[name], np.ones((3, 3, 3)))
        values[name] = np.where(numbers > 0, 1 - numbers / np.float32(20), 0).astype(np.float32)
        apart = ~ndimage.binary_dilation(numbers > 0, np.ones((3, 3, 3)))
        values[f"{name} beside a grid"] = np.maximum(values[name], values["grid"] * apart)
    return true, values


def listed(kind):
    """Return four points or boxes, and as predictions nearly the same, and others in a grid or everywhere."""
    true = [(10.0 * x, 10.0 * y) for x in range(1, 3) for y in range(1, 3)]
    near = [(x + 0.5, y, 0.5 + x / 100) for x, y in true]
    grid = [(float(x), float(y), 0.4) for x in range(1, 34, 3) for y in range(1, 34, 3)]
    blind = {"grid": grid, "grid of certainty": [(x, y, 1.0) for x, y, _ in grid]}
    if kind == "boxes":
        true = [(x, y, x + 6, y + 6) for x, y in true]
        near = [(x, y, x + 6, y + 6, p) for x, y, p in near]
        blind = {name: [(x, y, x + 5, y + 5, p) for x, y, p in of] for name, of in blind.items()}
        blind["whole"] = [(0.0, 0.0, 40.0, 40.0, 1.0)]
    given = {ALL: near, THREE: near[:3], **blind}
    return true, given | {f"{name} beside a grid": [*given[name], *blind["grid"]] for name in (ALL, THREE)}


def write_listed(kind, folder, side, objects):
    corners = ("x", "y") if kind == "points" else ("x1", "y1", "x2", "y2")
    names = ("case", *corners, *(("probability",) if side == "submission" else ()))
    rows = [dict(zip(names, ("a", *of), strict=False)) for of in objects]
    write_table(folder / side / ("predictions.csv" if side == "submission" else "field.csv"), rows)


def write_case(kind, folder, true, prediction):
    """Write the phase and a submission; beside the case with findings lies one without, called the same."""
    if kind in LISTED:
        write_table(folder / "phase" / "cases.csv", [{"name": "a", "width": 40, "height": 40}])
        write_listed(kind, folder, "phase", true)
        write_listed(kind, folder, "submission", prediction)
    elif kind == "detection_map":
        healthy = prediction if folder.name in ("whole", "grid", "empty", "halves") else 0 * prediction
        write_maps(folder, "field", {"a": (true, prediction), "b": (0 * true, healthy)})
    else:
        write_maps(folder, "field", {"a": (true, prediction)})


@pytest.mark.parametrize("kind", FIELD)
def test_nothing_blind_beats_a_nearly_perfect_prediction(kind, tmp_path):
    metrics = metrics_of(kind)
    assert metrics
    if kind in LISTED:
        true, given = listed(kind)
    elif kind.endswith("_map") and kind not in ("label_map", "instance_map"):
        true, given = likely()
    else:
        true, given = predictions(kind == "instance_map")
    found = {}
    for name, prediction in given.items():
        folder = tmp_path / name.replace(" ", "_")
        write_case(kind, folder, true, prediction)
        found[name] = Scored(folder, configuration(tmp_path, kind, metrics)).figures
    (task,) = load_phase(tmp_path / ALL.replace(" ", "_") / "phase").tasks
    better = {of.name: 1 if of.better == "higher" else -1 for of in task.metrics if of.ordered}
    compared, wins = metrics.keys() & better.keys() & found[ALL].keys(), set()
    undefined = {of["metric"] for of in metrics.values()} - {metrics[name]["metric"] for name in compared}
    assert undefined <= {"count_determination"}  # of cases with different counts alone
    for honest, name in itertools.product((ALL, THREE), compared):
        for blind in found.keys() - {ALL, THREE, f"{ALL} beside a grid"}:
            gain = better[name] * (found[blind].get(name, np.nan) - found[honest][name])
            if gain > 1e-9 and not is_excepted(metrics[name], honest):
                wins.add((metrics[name]["metric"], in_toml(metrics[name]), honest, blind))
    assert not wins, "\n".join(map(str, sorted(wins)))


def test_rehearsal_says_what_wins(tmp_path):
    """Of lesions that a mask of the whole image touches; of FROC whose lowest threshold is left out."""
    true = objects(False, *PLACES)
    metrics = {"dice": {"metric": "dice"}, "lesion_f1": {"metric": "lesion_f1"}}
    maps = tmp_path / "maps"
    write_maps(maps, "field", {"a": (true, true), "b": (true[::-1], true)})
    configuration(maps / "phase", "label_map", metrics)
    points = tmp_path / "points"
    write_table(points / "phase" / "cases.csv", [{"name": "a", "width": 40, "height": 40}])
    write_listed("points", points, "phase", [(10.0, 10.0), (20.0, 30.0)])
    froc = {"metric": "froc", "radius": 2, "lowest_threshold": "excluded"}
    configuration(
        points / "phase", "points", {"froc": froc, "froc_of_all": {**froc, "lowest_threshold": "included"}}
    )
    said = {}
    for folder in (maps, points):
        seal(folder / "phase", scan(folder / "phase"))
        said[folder] = " ".join(rehearse(load_phase(folder / "phase"), workers=0).wins)
    assert WHOLE in said[maps]
    assert "task.lesion_f1 (1 for 1)" in said[maps]
    assert "task.dice" not in said[maps]
    assert f'"{ALIKE}" has the worst value in task.froc (0),' in said[points]
    assert "task.froc_of_all" not in said[points].partition(ALIKE)[2]
    assert GRID in said[points]

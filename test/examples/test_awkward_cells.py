"""Examples of cells and nuclei on awkward images: their published formulas, computed from rows and arrays."""

import numpy as np
import pytest
import SimpleITK

from test.examples.awkward import awkward_maps, scored_in_full, write_jobs, write_table

VERSION = {"major": 1, "minor": 0}
PATCHES = {
    "healthy": ([], []),
    "false": ([], [(50, 50, 1, 0.9), (60, 50, 2, 0.4)]),
    "empty": ([(0, 0, 2), (1023, 1023, 1)], []),
    "missed": ([(10, 10, 1), (500, 500, 1)], [(10, 12, 1, 0.4)]),
    "border": ([(0, 0, 1), (1023, 1023, 2)], [(1023, 1020, 2, 0.0), (3, 0, 1, 1.0)]),
    "exchanged": ([(100, 100, 1), (200, 200, 2)], [(100, 100, 2, 0.9), (200, 200, 1, 0.9)]),
    # Exactly 15 pixels away, 15.1, and 20.
    "radius": (
        [(100, 100, 2), (200, 200, 2), (300, 300, 2)],
        [(109, 112, 2, 0.5), (202, 215, 2, 0.5), (320, 300, 2, 0.5)],
    ),
    "split": ([(100, 100, 2)], [(101, 100, 2, 0.3), (105, 100, 2, 0.8)]),
    "joined": ([(100, 100, 1), (110, 100, 1)], [(105, 100, 1, 0.6)]),
    # By confidence both hit; in the order of the file the first takes the only cell of the other.
    "order": ([(100, 100, 2), (120, 100, 2)], [(110, 100, 2, 0.3), (90, 100, 2, 0.8)]),
    "tie": ([(100, 100, 1), (120, 100, 1)], [(110, 100, 1, 0.5), (91, 100, 1, 0.5)]),
    # The more probable one takes the nearer cell, and leaves the other one a cell that is too far.
    "chain": ([(100, 100, 1), (112, 100, 1)], [(94, 100, 1, 0.4), (105, 100, 1, 0.9), (105, 100, 1, 0.2)]),
}


def hits_of(takers, objects, reach):
    """Return how many takers, one after the other, find a nearest object that is free and within reach."""
    free, hits = np.array(objects, float).reshape(-1, 2), 0
    for place in takers:
        apart = np.hypot(*(free - place).T)
        if apart.size and reach(apart.min()):
            free = np.delete(free, apart.argmin(), axis=0)
            hits += 1
    return hits


def ocelot(number, as_program=False):
    """Return F1, precision and recall of a class.

    The most probable prediction comes first, of equal ones the nearest; in the program that of the file.
    """
    hits = objects = predictions = 0
    for cells, found in PATCHES.values():
        true = [cell[:2] for cell in cells if cell[2] == number]

        def order(cell, true=true):
            nearest = min((np.hypot(*np.subtract(cell[:2], place)) for place in true), default=0)
            return 0 if as_program else (-cell[3], nearest)

        made = [place for *place, of, _ in sorted(found, key=order) if of == number]
        hits += hits_of(made, true, lambda apart: apart <= 15)
        objects, predictions = objects + len(true), predictions + len(made)
    return 2 * hits / (objects + predictions), hits / predictions, hits / objects


def test_cells_of_ocelot(tmp_path):
    named = {1: "background cell", 2: "tumour cell"}
    rows = [
        {"name": name, "width": 1024, "height": 1024, "stack_name": "patches", "stack_index": number}
        for number, name in enumerate(PATCHES)
    ]
    write_table(tmp_path / "phase" / "cases.csv", rows)
    cells = [(name, x, y, named[of]) for name, (true, _) in PATCHES.items() for x, y, of in true]
    columns = ("case", "x", "y", "class")
    write_table(tmp_path / "phase" / "cells.csv", [dict(zip(columns, row, strict=True)) for row in cells])
    points = [
        {"name": f"image_{number}", "point": [x, y, of], "probability": chance}
        for number, (_, found) in enumerate(PATCHES.values())
        for x, y, of, chance in found
    ]
    points = points[::2] + points[1::2]  # the order of patches is not that of the file
    output = {"type": "Multiple points", "points": points, "version": VERSION}
    write_jobs(tmp_path, "cell-patches", {"patches.tif": {"cell-classification": output}})
    scored = scored_in_full(tmp_path, "ocelot2023")
    expected = {of: ocelot(of) for of in named}
    for number, of in named.items():
        keys = [f"point_{figure}_{of.replace(' ', '_')}" for figure in ("f1", "precision", "recall")]
        assert [scored.figures[key] for key in keys] == pytest.approx(expected[number], abs=1e-9)
    mean = np.mean([of[0] for of in expected.values()])
    assert scored.result["ranking"]["composites"]["mean_f1"]["value"] == pytest.approx(mean, abs=1e-9)
    assert all(ocelot(of, as_program=True)[0] < expected[of][0] for of in named)


def polygon(x, y, of, shape=((-3, -3), (3, -3), (3, 3), (-3, 3))):
    """Return a polygon as the platform has it; the middle of a shape is (0, 0) if none is stated."""
    places = [[x + dx, y + dy, 0.5] for dx, dy in shape]
    return {"name": f"nuclei_{of}", "seed_point": places[0], "path_points": places, "probability": 0.5}


DENSE = ((0, 0), (0, 1), (0, 2), (0, 3), (24, 0))  # its mean is far from the middle of its area
NUCLEI = {
    "healthy": ([], []),
    "false": ([], [(50, 50, "tumor"), (60, 60, "neutrophil")]),
    "empty": ([(50, 50, "tumor"), (80, 50, "stroma")], []),
    "missed": ([(50, 50, "tumor"), (80, 50, "tumor")], [(51, 50, "tumor")]),
    "exchanged": ([(50, 50, "tumor"), (90, 50, "stroma")], [(50, 50, "stroma"), (90, 50, "tumor")]),
    # At exactly 15 pixels it misses.
    "radius": ([(50, 50, "tumor"), (90, 50, "tumor")], [(59, 62, "tumor"), (90, 64.75, "tumor")]),
    "split": ([(50, 50, "stroma")], [(55, 50, "stroma"), (52, 50, "stroma"), (48, 50, "apoptosis")]),
    "joined": ([(50, 50, "stroma"), (60, 50, "stroma")], [(55, 50, "stroma")]),
    # The first nucleus takes the only prediction that is near to the second one.
    "order": ([(50, 50, "tumor"), (62, 50, "tumor")], [(37, 50, "tumor"), (56, 50, "tumor")]),
    # Two predictions in one place, of which two nuclei take one each.
    "twice": ([(50, 50, "tumor"), (52, 50, "tumor")], [(51, 50, "tumor"), (51, 50, "tumor")]),
    "border": ([(3, 3, "epithelium")], [(3, 3, "epithelium")]),
    "dense": ([(54.8, 51.2, "melanophage")], [(50, 50, "melanophage", DENSE)]),
}


def puma(images):
    """Return F1 of each class that any image has: its mean over all images, 0 where it is on neither side."""
    scores = {}
    for true, found in images:
        for name in {of for *_, of in (*true, *found)}:
            places, made = ([place for *place, of in side if of == name] for side in (true, found))
            hits = hits_of(places, made, lambda apart: apart < 15)
            scores.setdefault(name, []).append(2 * hits / (len(places) + len(made)))
    return {name: sum(of) / len(images) for name, of in scores.items()}


def test_nuclei_and_tissue_of_puma(tmp_path):
    maps = list(awkward_maps([1, 2, 4], axes=2).values())
    names = [f"i{number:02d}" for number in range(len(maps))]
    nuclei = [*NUCLEI.values()] + [NUCLEI["split"]] * (len(maps) - len(NUCLEI))
    size = {"width": 128, "height": 96}
    write_table(tmp_path / "phase" / "cases.csv", [{"name": name} | size for name in names])
    rows = [
        {"case": name, "x": x, "y": y, "class": f"nuclei_{of}"}
        for name, (true, _) in zip(names, nuclei, strict=True)
        for x, y, of in true
    ]
    write_table(tmp_path / "phase" / "nuclei.csv", rows)
    (tmp_path / "phase" / "tissue").mkdir()
    jobs, images = {}, []
    sides = [[np.pad(of, ((1, 81), (2, 110))).astype(np.uint8) for of in pair] for pair in maps]
    sides[0][1][90:, 120:] = 3  # a tissue that no reference has
    for name, (true, found), (tissue, made) in zip(names, nuclei, sides, strict=True):
        SimpleITK.WriteImage(
            SimpleITK.GetImageFromArray(tissue), str(tmp_path / "phase" / "tissue" / f"{name}.tif")
        )
        polygons = [polygon(*of) for of in found]
        listed = {"type": "Multiple polygons", "polygons": polygons, "version": VERSION}
        jobs[f"{name}.tif"] = {
            "melanoma-10-class-nuclei-segmentation": listed,
            "melanoma-tissue-mask-segmentation": made,
        }
        middles = [np.mean(of["path_points"], axis=0)[:2] for of in polygons]
        images.append((true, [(*middle, of[2]) for middle, of in zip(middles, found, strict=True)]))
    write_jobs(tmp_path, "melanoma-whole-slide-image", jobs)
    scored = scored_in_full(tmp_path, "puma")
    by_class = puma(images)
    assert {name: scored.figures[f"f1_nuclei_{name}"] for name in by_class} == pytest.approx(
        by_class, abs=1e-9
    )
    macro = scored.result["ranking"]["composites"]["macro_f1"]["value"]
    assert macro == pytest.approx(np.mean(list(by_class.values())), abs=1e-9)
    both = np.array(sides)
    pairs = [(both == label).transpose(1, 0, 2, 3) for label in range(1, 6)]
    dice = [2 * np.logical_and(*of).sum() / of.sum() if of.any() else 1 for of in pairs]
    assert scored.figures["dice"] == pytest.approx(np.mean(dice), abs=1e-9)
    assert scored.figures["dice_necrosis"] == 1  # on neither side of any image

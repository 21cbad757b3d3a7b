"""Phases of public programs, on awkward cases: the published formulas computed from arrays."""

from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage, stats
from scipy.spatial.distance import cdist
from skimage.metrics import structural_similarity
from sklearn import metrics

from test.examples.awkward import awkward_maps, scored_in_full, spacing_of, write_maps, write_table
from test.examples.samples import EXAMPLES

PROGRAMS = {path.stem: path for path in sorted((EXAMPLES / "programs").glob("*.toml"))}


def dice(true, found):
    return 2 * (true & found).sum() / (true.sum() + found.sum())


def border(mask, neighbours, beyond=0):
    """Return the voxels with one of 2·axes or 3^axes − 1 neighbours outside, as rows of indices."""
    rank = 1 if neighbours == "faces" else mask.ndim
    inner = ndimage.binary_erosion(
        mask, ndimage.generate_binary_structure(mask.ndim, rank), border_value=beyond
    )
    return np.argwhere(mask & ~inner)


def apart(true, found, spacing):
    """Return the distances of found points from true ones, and of true ones from found ones."""
    table = cdist(found * np.asarray(spacing), true * np.asarray(spacing))
    return table.min(axis=1), table.min(axis=0)


def percentile_95(distances):
    return max(np.percentile(distances[0], 95), np.percentile(distances[1], 95))


def topbrain(true, found, spacing):
    rows = []
    for label in range(1, 5):
        one, other = true == label, found == label
        if not one.any() and not other.any():
            continue
        both = one.any() and other.any()
        parts = [ndimage.label(mask, np.ones((3, 3, 3)))[1] for mask in (one, other)]
        far = percentile_95(apart(border(one, "all"), border(other, "all"), spacing)) if both else 290
        rows.append((dice(one, other), far, abs(parts[0] - parts[1])))
    return dict(zip(("dice", "hausdorff_distance", "betti_error"), np.mean(rows, axis=0), strict=True))


def mama_mia(true, found, spacing):
    contours = [border(of == 1, "faces", beyond=1) for of in (true, found)]
    far = percentile_95(apart(*contours, (1, 1, 1))) if all(map(len, contours)) else 150
    return {"dice": dice(true == 1, found == 1), "hausdorff_distance": far}


def trackrad(true, found, spacing):
    one, other = true == 1, found == 1
    if not other.any():  # infinite in the program
        farthest = np.hypot(*true.shape)
        return {"dice": 0.0, "hausdorff_distance": farthest, "average_surface_distance": farthest}
    distances = apart(border(one, "faces"), border(other, "faces"), (1, 1))
    figures = {
        "hausdorff_distance": percentile_95(distances),
        "average_surface_distance": distances[0].mean(),
    }
    return {"dice": dice(one, other), **figures}


def spider(true, found, spacing):
    figures = {}
    for name, numbers in (("vertebra", range(1, 100)), ("canal", [100]), ("disc", range(201, 300))):
        scores, far = [], []
        for number in np.intersect1d(np.unique(true), list(numbers)):
            inside = found[(true == number) & (found > 0)]
            if not inside.size:
                scores.append(0.0)
                continue
            one, other = true == number, found == np.bincount(inside).argmax()
            scores.append(dice(one, other))
            # The program gives the spacing along x, y, z to arrays of z, y, x.
            surfaces = border(one, "all"), border(other, "all")
            far.append(np.concatenate(apart(*surfaces, spacing[::-1])).mean())
        if scores:
            kept = [score for score in scores if score >= 0.1]
            figures |= {f"dice_{name}": np.mean(kept or [0]), f"found_{name}": len(kept) / len(scores)}
            diagonal = np.linalg.norm(np.multiply(true.shape, spacing[::-1]))  # where there is no distance
            figures[f"surface_{name}"] = np.mean(far) if far else diagonal
    return figures


def volumes(*labels):
    return awkward_maps(labels)


def frames():
    """Return the cases with a target, in frames as high as wide."""
    pairs = {
        name: [(of == 1).astype(np.uint16) for of in pair]
        for name, pair in awkward_maps([1, 2, 3], 2).items()
    }
    return {
        name: tuple(np.pad(of, ((0, 16 - of.shape[0]), (0, 0))) for of in pair)
        for name, pair in pairs.items()
        if pair[0].any()
    }


def decided(count):
    return {"response": [number % 2 for number in range(count)]}


MAPS = {
    "topbrain": (topbrain, "vessels", volumes(1, 3, 4)),
    "mama-mia": (mama_mia, "tumour", volumes(1, 0, 0)),
    "trackrad": (trackrad, "target", frames()),
    "spider": (
        spider,
        "spine",
        {**volumes(1, 2, 201), **{f"{k}_2": v for k, v in volumes(201, 100, 3).items()}},
    ),
}


@pytest.mark.parametrize("program", MAPS)
def test_maps_of_each_case(program, tmp_path):
    expected_of, field, maps = MAPS[program]
    maps = {name: pair for name, pair in maps.items() if pair[0].any() or pair[1].any()}
    columns, extension = {}, ".nii.gz"
    if program == "trackrad":
        columns, extension = {"patient": [f"p{number % 4}" for number in range(len(maps))]}, ".mha"
    if program == "mama-mia":
        columns = decided(len(maps))
        answers = [{"case": name, "response": number % 3 // 2} for number, name in enumerate(maps)]
        write_table(tmp_path / "submission" / "predictions.csv", answers)
    write_maps(tmp_path, field, maps, columns=columns, extension=extension)
    scored = scored_in_full(tmp_path, program)
    expected = {
        name: expected_of(*(of.astype(int) for of in pair), spacing_of(number))
        for number, (name, pair) in enumerate(maps.items())
    }
    names = list(dict.fromkeys(key for figures in expected.values() for key in figures))
    for case, found in scored.by_case(*names):
        assert found == pytest.approx(expected[case], abs=1e-9), case
    # Over all cases: the mean over those that have a figure, of frames first over those of a patient.
    for key in names:
        each = [expected[name].get(key, np.nan) for name in maps]
        groups = [each[first::4] for first in range(4)] if program == "trackrad" else [[one] for one in each]
        mean = np.nanmean([np.mean(group) for group in groups])
        assert scored.figures[key] == pytest.approx(mean, abs=1e-9), key
    if program == "mama-mia":
        true, given = columns["response"], [row["response"] for row in answers]
        balanced = metrics.balanced_accuracy_score(true, given)
        assert scored.figures["balanced_accuracy"] == pytest.approx(balanced, abs=1e-9)


def monkey(cases, radius, rates):
    """Return the FROC score: hits of the nearest prediction alone, thresholds above the lowest."""
    hits, false, objects, area = [], [], 0, 0.0
    for true, found, mm2 in cases:
        taken = set()
        if true and found:
            table = cdist(true, [place for *place, _ in found])
            taken = {int(row.argmin()) for row in table if row.min() <= radius}
        hits += [found[number][2] for number in taken]
        false += [one[2] for number, one in enumerate(found) if number not in taken]
        objects += len(true)
        area += mm2
    thresholds = sorted({*hits, *false})[1:]
    rows = [[sum(of >= limit for of in side) for side in (false, hits)] for limit in reversed(thresholds)]
    x, y = np.array([[0, 0], *rows, [len(false), len(hits)]], float)[: len(rows) + 1].T
    return np.interp(rates, x / area, y / objects).mean()


def test_monkey_on_points(tmp_path):
    random = np.random.default_rng(1)
    cells = [[], *(random.uniform(0, 0.25, (12, 2)).round(5).tolist() for _ in range(4))]
    cases = []
    for number, true in enumerate(cells):
        near = [[*np.round(np.add(place, random.normal(0, 0.003, 2)), 5).tolist()] for place in true[:9]]
        # One at exactly the radius, two that share a cell, one between two cells, false ones, ties.
        near += (
            [[true[9][0] + 0.005, true[9][1]], true[0], np.mean(true[:2], axis=0).tolist()] if true else []
        )
        near += random.uniform(0, 0.25, (3 * (number != 3), 2)).tolist()
        found = [
            [*place, round(float(share), 1)]
            for place, share in zip(near, random.random(len(near)), strict=True)
        ]
        cases.append((true, found, 0.0625 * (1 + number % 2)))
    names = [f"m{number}" for number in range(len(cases))]
    rows = [{"name": name, "mm2": case[2]} for name, case in zip(names, cases, strict=True)]
    write_table(tmp_path / "phase" / "cases.csv", rows)
    places = [(name, *place) for name, case in zip(names, cases, strict=True) for place in case[0]]
    write_table(
        tmp_path / "phase" / "cells.csv", [dict(zip(("case", "x", "y"), row, strict=True)) for row in places]
    )
    columns = ("case", "x", "y", "probability")
    found = [(name, *one) for name, case in zip(names, cases, strict=True) for one in case[1]]
    write_table(
        tmp_path / "submission" / "predictions.csv", [dict(zip(columns, row, strict=True)) for row in found]
    )
    expected = monkey(cases, 0.005, [10, 20, 50, 100, 200, 300])
    assert 0.1 < expected < 0.9
    assert scored_in_full(tmp_path, "monkey").figures["froc"] == pytest.approx(expected, abs=1e-9)


def test_cholectriplet_by_class_and_video(tmp_path):
    names = ["grasper grasp gallbladder", "hook dissect gallbladder", "clipper clip cystic duct"]
    random = np.random.default_rng(2)
    true, found = random.random((30, 3)) < 0.3, random.random((30, 3)).round(1)  # many ties
    videos = np.repeat(["a", "b", "c"], 10)
    true[videos == "a", 1] = False
    true[:, 2] = False  # in no video
    frames = [f"f{number}" for number in range(30)]
    each = [
        [
            metrics.average_precision_score(true[videos == video, of], found[videos == video, of])
            if true[videos == video, of].any()
            else np.nan
            for of in range(3)
        ]
        for video in "abc"
    ]
    expected = np.nanmean(np.nanmean(np.array(each)[:, :2], axis=0))
    rows = [
        {"name": frame, "video": video, **{name: int(one) for name, one in zip(names, row, strict=True)}}
        for frame, video, row in zip(frames, videos, true, strict=True)
    ]
    write_table(tmp_path / "phase" / "cases.csv", rows)
    given = [
        {"case": frame, **dict(zip(names, row, strict=True))}
        for frame, row in zip(frames, found, strict=True)
    ]
    write_table(tmp_path / "submission" / "predictions.csv", given)
    scored = scored_in_full(tmp_path, "cholectriplet")
    assert scored.figures["macro_average_precision"] == pytest.approx(expected, abs=1e-9)


def test_surgvu_by_video(tmp_path):
    steps = ["suturing", "dissection", "other"]
    random = np.random.default_rng(3)
    true, found = random.integers(0, 3, 24), random.integers(0, 3, 24)
    videos = np.repeat(["a", "b", "c"], 8)
    true[videos == "a"] = 1  # one step alone, and another that is only predicted
    expected = {"weighted_f1": [], "accuracy": []}
    for video in "abc":
        pair = true[videos == video], found[videos == video]
        expected["weighted_f1"].append(metrics.f1_score(*pair, average="weighted"))
        expected["accuracy"].append(metrics.accuracy_score(*pair))
    named = [f"f{number}" for number in range(24)]
    write_table(
        tmp_path / "phase" / "cases.csv",
        [{"name": n, "video": v, "step": steps[s]} for n, v, s in zip(named, videos, true, strict=True)],
    )
    write_table(
        tmp_path / "submission" / "predictions.csv",
        [{"case": name, "step": steps[step]} for name, step in zip(named, found, strict=True)],
    )
    figures = scored_in_full(tmp_path, "surgvu").figures
    for key, values in expected.items():
        assert figures[key] == pytest.approx(np.mean(values), abs=1e-9)


def test_chimera_decides_above_one_half(tmp_path):
    likelihoods = [0.5, 0.5, 0.51, 0.2, 0.9, 0.9, 0.0, 1.0, 0.49, 0.7]
    responds = [1, 0, 1, 0, 1, 0, 0, 1, 1, 0]
    words = ["no", "yes"]
    named = [f"c{number}" for number in range(len(responds))]
    rows = [{"name": name, "responder": words[of]} for name, of in zip(named, responds, strict=True)]
    write_table(tmp_path / "phase" / "cases.csv", rows)
    given = [{"case": name, "response": of} for name, of in zip(named, likelihoods, strict=True)]
    write_table(tmp_path / "submission" / "predictions.csv", given)
    decisions = np.array(likelihoods) > 0.5
    expected = {
        "f1": metrics.f1_score(responds, decisions),
        "balanced_accuracy": metrics.balanced_accuracy_score(responds, decisions),
        "auc": metrics.roc_auc_score(responds, likelihoods),
    }
    assert scored_in_full(tmp_path, "chimera").figures == pytest.approx(expected, abs=1e-9)


def test_crown_leaves_out_what_is_missing_or_0(tmp_path):
    true = ["1.5", "", "0", "2.25", "3", "0.75", "2"]
    found = [1.25, 3.0, 4.0, 2.0, 3.5, 1.0, 0.0]
    named = [f"c{number}" for number in range(len(true))]
    rows = [{"name": name, "diameter": of} for name, of in zip(named, true, strict=True)]
    write_table(tmp_path / "phase" / "cases.csv", rows)
    given = [{"case": name, "diameter": of} for name, of in zip(named, found, strict=True)]
    write_table(tmp_path / "submission" / "predictions.csv", given)
    pairs = np.array(
        [(float(one), other) for one, other in zip(true, found, strict=True) if one not in ("", "0")]
    )
    expected = {
        "mean_absolute_error": np.abs(pairs[:, 0] - pairs[:, 1]).mean(),
        "pearson_correlation": stats.pearsonr(*pairs.T).statistic,
    }
    assert scored_in_full(tmp_path, "crown").figures == pytest.approx(expected, abs=1e-9)


def test_synthrad2023_inside_its_mask(tmp_path):
    random = np.random.default_rng(4)
    shape = (9, 12, 14)
    maps, masks, rows = {}, {}, []
    for number, name in enumerate(("body", "border", "equal")):
        true = random.normal(0, 900, shape).astype(np.float32)  # some values lie beyond the range
        found = true + random.normal(0, 100 * (number < 2), shape).astype(np.float32)
        mask = np.zeros(shape, np.uint8)
        mask[2 * (number != 1) :, 3:9, 2:11] = 1
        maps[name], masks[name] = (true, found), (mask, mask)
        inside = mask > 0
        one, other = (of.clip(-1024, 3000).astype(float) for of in (true, found))
        error = np.mean((one - other)[inside] ** 2)
        whole = [np.where(inside, of, -1024) + 1024 for of in (one, other)]
        _, each = structural_similarity(*whole, data_range=4024, full=True)
        ratio = 10 * np.log10(4024**2 / error) if error else np.inf
        counted = (slice(3, -3),) * 3  # windows of 7 that leave the image do not count
        similarity = each[counted][inside[counted]].mean()
        rows.append((np.abs(true - found)[inside].mean(dtype=float), min(ratio, 100), similarity))
    write_maps(tmp_path, "mask", masks)
    write_maps(tmp_path, "sct", maps)
    scored = scored_in_full(tmp_path, "synthrad2023")
    for (case, found), row in zip(scored.by_case("mae", "psnr", "ssim"), rows, strict=True):
        assert list(found.values()) == pytest.approx(row, rel=1e-9), case


def test_each_program_has_such_a_test():
    source = Path(__file__).read_text(encoding="utf-8")
    assert all(f'scored_in_full(tmp_path, "{name}")' in source or name in MAPS for name in PROGRAMS)

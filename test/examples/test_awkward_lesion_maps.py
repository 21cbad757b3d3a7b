"""PI-CAI on awkward volumes: its published formulas, computed from the arrays."""

import numpy as np
import pytest
from scipy import ndimage
from scipy.optimize import linear_sum_assignment

from test.examples.awkward import awkward_maps, scored_in_full, write_maps

RATES = (0.1, 0.5, 1.0, 2.0)


def with_confidences(case, findings):
    """Return the map of findings with a confidence each, some of which are equal; those of a case differ."""
    numbered, count = ndimage.label(findings, np.ones((3, 3, 3)))
    return np.array([0, *((5 * case + 2 * one) % 11 + 0.5 for one in range(count))], np.float32)[numbered]


def volumes():
    """Return references and predictions; some have no lesion, and two findings have a tenth of a lesion."""
    maps = {name: pair for name, pair in awkward_maps([1, 0, 0]).items() if pair[0].any() or pair[1].any()}
    nothing = np.zeros_like(maps["shifted"][0])
    rods = np.zeros((2, *nothing.shape), nothing.dtype)
    rods[0, 4, 3, 2:12] = rods[1, 4, 3, 2:13] = 1  # 10 and 11 voxels
    first = rods[0].copy()
    first[..., 3:] = 0
    maps |= {"healthy": (nothing, nothing), "benign": (nothing, maps["missed"][0])}
    maps |= {"exactly": (rods[0], first), "below": (rods[1], first)}
    return {
        name: (true.astype(np.uint8), with_confidences(number, found))
        for number, (name, (true, found)) in enumerate(maps.items())
    }


def results_of(true, found):
    """Return for each lesion and each false finding whether it is a lesion, and its confidence."""
    (lesions, count), (findings, number) = (ndimage.label(of, np.ones((3, 3, 3))) for of in (true, found))
    masks = [[of == one + 1 for one in range(of.max())] for of in (lesions, findings)]
    overlap = np.array([(one & other).sum() / (one | other).sum() for one in masks[0] for other in masks[1]])
    overlap = overlap.reshape(count, number)
    enough = overlap >= 0.1
    pairs = zip(*linear_sum_assignment(enough * (1 + overlap), maximize=True), strict=True)
    hits = [finding for lesion, finding in pairs if enough[lesion, finding]]
    confidence = [found[mask].max() for mask in masks[1]]
    false = [confidence[finding] for finding in range(number) if not enough[:, finding].any()]
    missed = [(1, 0.0)] * (count - len(hits))
    return [(1, confidence[finding]) for finding in hits] + missed + [(0, one) for one in false]


def picai(scans, *, as_program):
    """Return the figures; the program drops the lowest confidence, which is 0 where a lesion is missed."""
    is_lesion, confidence = np.array([row for scan in scans for row in results_of(*scan)]).T
    levels = np.unique(confidence)[::-1]
    hits = np.array([(is_lesion * (confidence >= level)).sum() for level in levels])
    counted = np.array([(confidence >= level).sum() for level in levels])
    recall, false = hits / is_lesion.sum(), (counted - hits) / len(scans)
    precision = np.where(levels > 0, hits / counted, 0)
    kept = levels > (levels.min() if as_program else 0)
    steps = [max(recall[kept & (false <= rate)], default=0) for rate in RATES]
    ill = np.array([true.any() for true, _ in scans])
    highest = np.array([found.max() for _, found in scans])
    apart = np.subtract.outer(highest[ill], highest[~ill])
    return {
        "case_auc": np.mean((apart > 0) + (apart == 0) / 2),
        "lesion_average_precision": np.sum(np.diff(recall, prepend=0) * precision),
        "lesion_froc": np.mean(steps),
        **{f"lesion_froc_at_{rate:g}".replace(".", "_"): of for rate, of in zip(RATES, steps, strict=True)},
    }


@pytest.mark.parametrize("missed", [True, False])
def test_findings_of_awkward_volumes(missed, tmp_path):
    maps = volumes()
    if not missed:  # the most certain finding of all is false, and the least certain one is a hit
        kept = ("shifted", "false", "split", "tie", "healthy", "benign", "exactly")
        maps = {name: maps[name] for name in kept}
    write_maps(tmp_path, "cancer", maps, extension=".mha")
    scored = scored_in_full(tmp_path, "picai")
    expected = picai(list(maps.values()), as_program=False)
    assert scored.figures == pytest.approx(expected, abs=1e-9)
    score = (expected["case_auc"] + expected["lesion_average_precision"]) / 2
    assert scored.result["ranking"]["composites"]["ranking_score"]["value"] == pytest.approx(score, abs=1e-9)
    program = picai(list(maps.values()), as_program=True)
    assert (program == expected) is missed
    if not missed:  # as the table of examples says
        assert (program["lesion_froc_at_0_5"], expected["lesion_froc_at_0_5"]) == (0.8, 1)

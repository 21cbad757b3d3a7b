"""Candidates and lesions of one image that are matched by their overlap (PI-CAI)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.lesions import Floats

Integers = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class CandidateMatches:
    """What the candidates of an image are.

    hits, false: boolean, shape (candidates,): matched to a lesion, and without sufficient overlap with any. A
    candidate that is neither overlaps a lesion that another one hits. lesions: the number of lesions.
    """

    hits: NDArray[np.bool_]
    false: NDArray[np.bool_]
    lesions: int


def overlap_of_components(candidates: Integers, lesions: Integers, candidate_count: int) -> Floats:
    """Return the intersection over union of each lesion and candidate, shape (lesions, candidates).

    candidates, lesions: numbers of components from 1 on, 0 for none, of one shape; every lesion has a voxel.
    """
    lesion_count = int(lesions.max(initial=0))
    columns = candidate_count + 1
    pairs = lesions.astype(np.int64) * columns + candidates
    voxels = np.bincount(pairs.reshape(-1), minlength=(lesion_count + 1) * columns).reshape(-1, columns)
    intersection = voxels[1:, 1:]
    union = voxels[1:].sum(axis=1)[:, None] + voxels[:, 1:].sum(axis=0) - intersection
    ratio: Floats = intersection / np.maximum(union, 1)
    return ratio


def match_candidates(overlap: Floats, least_overlap: float) -> CandidateMatches:
    """Match candidates and lesions one to one so that the sum of 1 + overlap over all pairs is the largest.

    overlap: shape (lesions, candidates), in [0, 1]. least_overlap: what a pair needs. Confidences play no
    part. Source: Saha et al. 2024, Lancet Oncol. 25:879 (PI-CAI), with an overlap of 0.1.
    """
    from scipy.optimize import linear_sum_assignment  # takes a while to import

    suffices = (overlap >= least_overlap) & (overlap > 0)
    lesion, candidate = linear_sum_assignment(np.where(suffices, 1 + overlap, 0), maximize=True)
    hits = np.zeros(overlap.shape[1], dtype=np.bool_)
    hits[candidate[suffices[lesion, candidate]]] = True
    return CandidateMatches(hits, np.logical_not(suffices.any(axis=0)), overlap.shape[0])

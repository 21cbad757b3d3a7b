"""The figures of a challenge's own paper that figures of a report follow."""

from __future__ import annotations

_PAPERS = {
    "refuge": "Orlando et al. 2020 (REFUGE)",
    "adam": "Fang et al. 2022 (ADAM)",
    "edd2020": "Ali et al. 2020 (EDD2020)",
}
_FIGURES = {
    ("refuge", "data"): "figure 4",
    ("refuge", "ROC"): "figure 5",
    ("refuge", "classified photographs"): "figure 6",
    ("refuge", "values of segmentation"): "figure 7",
    ("refuge", "subgroups by glaucoma"): "figure 8",
    ("refuge", "pictures of segmentation"): "figure 9",
    ("adam", "pictures of the reference"): "figure 2",
    ("adam", "ROC"): "figure 3, and figure 8 for models that were trained on different data",
    ("adam", "pictures of disc"): "figure 4",
    ("adam", "pictures of fovea"): "figure 5",
    ("adam", "pictures of lesions"): "figure 6",
    ("adam", "team values of disc.dice"): "figure 9, for models that were trained on different data",
    ("adam", "team values of fovea.distance"): "figure 10, for models that were trained on different data",
    ("edd2020", "pictures of detection"): "figure 2",
}


def followed(challenge: str, what: str, otherwise: str = "") -> str:
    """Return the figure of the challenge's paper with the same content, or ``otherwise``."""
    figure = _FIGURES.get((challenge, what))
    return f"{figure} of {_PAPERS[challenge]}" if figure else otherwise

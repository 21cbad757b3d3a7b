"""Publications that figures follow and that the methods paragraph cites."""

from __future__ import annotations

# --- The figures of a challenge's own paper that figures of a report follow ---

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


# --- The publications that figures follow and that the methods paragraph cites ---

WIESENFARTH = "Wiesenfarth et al. 2021"

CITATIONS = {
    "Maier-Hein 2018": "Maier-Hein et al. 2018, Nature Communications 9:5217, doi:10.1038/s41467-018-07619-7",
    "Wiesenfarth 2021": "Wiesenfarth et al. 2021, Scientific Reports 11:2369, doi:10.1038/s41598-021-82017-6",
    "Holm 1979": "Holm 1979, Scandinavian Journal of Statistics 6:65",
    "DeLong 1988": "DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44:837",
    "Efron 1998": "Efron and Tibshirani 1998, Annals of Statistics 26:1687",
    "Mogstad 2024": "Mogstad, Romano, Shaikh and Wilhelm 2024, Review of Economic Studies 91:476",
    "Kendall 1945": "Kendall 1945, Biometrika 33:239",
    "Kemeny 1959": "Kemeny 1959, Daedalus 88:577",
    "Borda 1784": "de Borda 1784, Mémoire sur les élections au scrutin",
}


def wiesenfarth(figure: str) -> str:
    """Return the published model of a figure: a kind of figure of challengeR."""
    return f"the {figure} of {WIESENFARTH}"

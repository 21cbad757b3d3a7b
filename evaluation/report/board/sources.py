"""The publications that figures follow and that the methods paragraph cites."""

from __future__ import annotations

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

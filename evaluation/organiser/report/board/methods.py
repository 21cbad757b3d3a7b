"""The paragraph of methods: the analysis in sentences that a paper can use, with citations."""

from evaluation.organiser.ranking.methods import METHODS, SCALED
from evaluation.organiser.report.board.rankings import methods_of
from evaluation.organiser.report.board.reading import ReportedPhase
from evaluation.organiser.report.page import listed, text_of
from evaluation.organiser.report.sources import CITATIONS


def methods_paragraphs(phase: ReportedPhase) -> tuple[str, ...]:
    """Return the paragraphs on one phase: ranking, uncertainty, tests, robustness, references."""
    method, rule = phase.board.scheme["method"], None
    if (known := METHODS.get(method["name"])) is not None:
        adjust = "Holm's correction" if method["adjust"] == "holm" else "without correction"
        rule = known.sentence.format(quantile=method["quantile"], alpha=method["alpha"], adjust=adjust)
    compared = {
        name: metric.comparisons.pairs
        for name, metric in phase.board.metrics.items()
        if metric.comparisons and metric.comparisons.pairs
    }
    filters = {"words": phase.words, "listed": listed, "tests": methods_of}
    scaled = SCALED.get(method["name"], "")
    written = text_of("methods.txt", filters, phase=phase, rule=rule, compared=compared, scaled=scaled)
    cited = [source for key, source in CITATIONS.items() if any(f"({key})" in text for text in written)]
    return (*written, f"References: {'; '.join(cited)}.") if cited else written

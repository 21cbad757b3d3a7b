"""The metric that LDCT-IQA has of its own."""

from scipy.stats import kendalltau


def kendall_tau(prediction, reference):
    """Kendall's rank correlation of all cases (tau-b); 0 for one and the same number in every case."""
    return kendalltau(prediction, reference).statistic if len(set(prediction)) > 1 else 0.0

"""The metric that LDCT-IQA has of its own."""

from scipy.stats import kendalltau


def kendall_tau(prediction, reference):
    """Kendall's rank correlation of all cases (tau-b); NaN where one side has one value only."""
    return kendalltau(prediction, reference).statistic

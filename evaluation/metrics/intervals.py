"""The public names of what says how many cases an interval needs, and of the interval of a proportion."""

from evaluation.stats.intervals import wilson_interval
from evaluation.stats.sample_sizes import auc_sample_size, wilson_sample_size

__all__ = ["auc_sample_size", "wilson_interval", "wilson_sample_size"]

"""Uncertainty: intervals and resampling of arrays. Nothing here knows a metric, a task or a file.

`figure` holds the two results, a figure with its intervals and a difference with its interval and p. The
other modules compute them: `intervals` of means and shares, `areas` under ROC curves, `unseen` what a sample
may lack, `bootstrap` the draws. `core.intervals` calls them for metrics. Tests of differences are the
organisers', in `organiser.ranking`.
"""

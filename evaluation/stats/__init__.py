"""Uncertainty: intervals, resampling and tests of arrays. Nothing here knows a metric, a task or a file.

`figure` holds the two results, a figure with its intervals and a difference with its interval and p. The
other modules compute them: `intervals` of means and shares, `areas` under ROC curves, `unseen` what a sample
may lack, `bootstrap` the draws, `differences` and `ranks` the tests. `core.intervals` and `core.differences`
call them for metrics.
"""

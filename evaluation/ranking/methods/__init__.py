"""Ranking methods on the values of the cases: rank then aggregate, quantiles, test then rank."""

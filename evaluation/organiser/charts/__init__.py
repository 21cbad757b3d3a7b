"""Charts of reports as Vega-Lite specifications, by family: pure functions without any library."""

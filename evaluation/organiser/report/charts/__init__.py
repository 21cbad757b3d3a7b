"""The charts of reports as Vega-Lite specifications: plain dictionaries from typed results."""

"""Figures as Vega-Lite v5 specifications: plain dictionaries, made by pure functions without any library."""

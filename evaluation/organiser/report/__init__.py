"""Reports: self-contained HTML pages with figures and tables of submissions and leaderboards.

Needs the extra ``report`` of this package (Jinja2, pypdf, vl-convert-python), which scoring does not.
"""

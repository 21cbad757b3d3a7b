"""The benchmark of cysts, built from annotations in steps (the paper, sections 2 and 3)."""

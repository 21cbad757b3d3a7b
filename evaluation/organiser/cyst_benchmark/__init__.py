"""Build the cyst benchmark from annotations, in steps (the paper, sections 2 and 3)."""

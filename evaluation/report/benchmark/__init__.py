"""The page of a cyst benchmark: what `fuse cysts` measured, as figures and tables."""

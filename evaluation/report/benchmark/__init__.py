"""The page of a cyst benchmark: the results of `fuse cysts` as figures and tables."""

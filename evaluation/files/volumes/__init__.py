"""Volumes of three axes (z, y, x): MetaImage, compressed NIfTI and TIFF stacks, read slab by slab."""

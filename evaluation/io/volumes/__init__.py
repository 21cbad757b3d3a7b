"""Volumes: their headers before their voxels, and the voxels plane by plane."""

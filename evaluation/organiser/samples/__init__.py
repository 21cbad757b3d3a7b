"""Synthetic images and likelihoods of known quality, for the samples of challenges."""

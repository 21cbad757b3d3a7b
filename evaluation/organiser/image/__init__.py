"""The image of a phase: built by the Docker engine, labelled, exported with all that goes to the platform."""

"""The organiser's tools: validate, rehearse and audit a phase, and derive its settings on the platform."""

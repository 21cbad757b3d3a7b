"""The graders of JustRAIGS: monitored, and made into a phase."""

"""The graders of JustRAIGS: admitted by an exam, given images, monitored, and made into a phase."""

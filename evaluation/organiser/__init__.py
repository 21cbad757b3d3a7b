"""What an organiser does with a phase before anybody submits to it."""

"""Results of any origin in one table, and what an organiser says of it."""

"""Results of any origin in one table, with the organiser's definition of it."""

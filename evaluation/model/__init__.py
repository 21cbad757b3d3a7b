"""The words of the project as types: faults, sources, forms, fields, metrics, tasks, challenges."""

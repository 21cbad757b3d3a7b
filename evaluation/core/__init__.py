"""The types that all challenges share: cases, fields, forms, metrics, faults."""

"""The kinds of values that are submitted: how each is read, checked, written and described."""

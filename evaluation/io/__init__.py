"""Safe access to files, readers and writers of their formats, and kinds of values."""

"""Safe opening of files; readers and writers of their formats; kinds of values."""

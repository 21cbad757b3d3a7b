"""The words of the project as types, free of any challenge."""

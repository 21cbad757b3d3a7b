"""The requirements of Grand Challenge: its folders, messages, settings and result file."""

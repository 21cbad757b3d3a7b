"""What Grand Challenge dictates and nothing else does: its folders, its messages, its result file."""

"""What several annotators or submissions said, fused into one."""

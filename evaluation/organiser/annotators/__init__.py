"""Combine several annotations or submissions into one."""

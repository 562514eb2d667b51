"""Statements of graphs: runs and their steps."""

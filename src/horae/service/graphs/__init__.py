"""Graphs: create, read runs, and intervene in steps."""

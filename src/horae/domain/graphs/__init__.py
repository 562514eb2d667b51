"""Graphs: one job whose steps need each other."""

"""Connections to cells: taking them, their deadlines, and whether a cell answers."""

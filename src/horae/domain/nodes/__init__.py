"""Nodes: how they divide the shards of a cell, and how they are woken."""

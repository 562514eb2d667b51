"""The promise against real processes: a cluster, faults struck at it, and a checker that believes nobody.

`cells` PostgreSQL servers · `processes` nodes, target and load as processes · `node`, `target`, `load` what runs in
them · `cluster` all of it together · `faults` what goes wrong · `checker` what must still hold · `experiment` one run.
"""

"""Importers: read schedules of other systems, and report every difference to how Horae will run them.

All importers are pure functions from text and plain values to definitions and differences; only `databases` reads a
foreign database. Nothing is stored here: `horae.boot` writes a jobs.yaml, or plans and applies it.
"""

from horae.service.imports.results import ImportDifference, ImportedJob, RefusedEntry

__all__ = ["ImportDifference", "ImportedJob", "RefusedEntry"]

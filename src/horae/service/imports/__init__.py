"""Schedules of other systems as ours, with a report of everything that will not be the same.

Pure: text and plain values in, definitions and differences out. Nothing is stored here.
"""

from horae.service.imports.found import Difference, Imported, Refused

__all__ = ["Difference", "Imported", "Refused"]

"""Reads schedules as code from a file or a module, and writes imported schedules as a file."""

from horae.boot.schedule_files.declared import ScheduleFile, source_of

__all__ = ["ScheduleFile", "source_of"]

"""Where schedules as code come from, a file or a module, and how what was found elsewhere is written as a file."""

from horae.boot.sources.declared import Source, source_of

__all__ = ["Source", "source_of"]

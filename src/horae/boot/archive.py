"""The archive as the settings describe it, for the processes that read it."""

from horae import archive
from horae.archive.targets import ArchiveTarget
from horae.runtime.settings import Settings
from horae.service.instances.archive_reader import ArchiveReader


def archive_target_of(settings: Settings) -> ArchiveTarget | None:
    """The archive, opened for reading; None where none is configured."""
    if settings.archive is None:
        return None
    target: ArchiveTarget = archive.load("object_store").open_target(settings, reading=True)
    return target


def archive_reader_of(settings: Settings) -> ArchiveReader | None:
    """The reader of the archive; None where none is configured."""
    target = archive_target_of(settings)
    return None if target is None else ArchiveReader(target)

"""Archived days of a fleet, and rows in them that somebody changes."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from horae.archive import data_files, day_reader
from horae.archive.manifests import DataFile
from horae.archive.object_store import open_target
from horae.archive.targets import ArchiveTarget
from horae.runtime.settings import Settings
from horae.upkeep.archive import DayArchiver
from tests.fire_audit.fleet import Fleet


class ArchivedFleet:
    """The closed days of a fleet in an archive, which is a folder."""

    def __init__(self, fleet: Fleet, folder: Path) -> None:
        self.fleet, self._folder = fleet, folder
        self.target: ArchiveTarget = open_target(Settings(archive=f"file://{folder}", environment="test"))

    async def write(self) -> None:
        """Archive the days that have ended. The first round notes when they closed."""
        archiver = DayArchiver(self.fleet.store, self.target, timedelta(days=14), timedelta(days=90))
        await archiver.once()
        await archiver.once()

    def alter(self, jobs: set[UUID]) -> set[UUID]:
        """Change the state of an archived row of each of these jobs; returns those that have one in the day."""
        done: set[UUID] = set()
        for file in self._files():
            table = day_reader.read_file(self.target, file)
            ids, chosen = table["job_id"].to_pylist(), set()
            fires, states = table["fire_time"].to_pylist(), table["state"].to_pylist()
            for n, raw in enumerate(ids):
                job, within = UUID(bytes=raw), self.fleet.since <= fires[n] < self.fleet.until
                if job in jobs and job not in done and states[n] == "SUCCESS" and within:
                    chosen.add(n)
                    done.add(job)
            if chosen:
                mask = pa.array([n in chosen for n in range(len(ids))])
                place = table.schema.get_field_index("state")
                changed = table.set_column(place, "state", pc.if_else(mask, "CANCELLED", table["state"]))
                (self._folder / file.name).write_bytes(data_files.encode(changed))
        return done

    def _files(self) -> Iterator[DataFile]:
        for day in (self.fleet.since, self.fleet.until):
            for folder in sorted(day_reader.folders_of(self.target, day.date())):
                manifest = day_reader.newest_manifest(self.target, folder)
                for group in manifest.groups if manifest is not None else ():
                    yield from group.files

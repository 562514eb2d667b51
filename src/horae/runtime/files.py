"""Files that are only ever added to."""

import os
from pathlib import Path


def append(file: Path, data: bytes) -> None:
    """Add bytes to the end of a file, made where it is missing; they are on the disk when this returns."""
    place = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(place, left) :]  # a disk that fills up takes a part
        os.fsync(place)
    finally:
        os.close(place)

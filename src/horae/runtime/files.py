"""Files that are only appended to."""

import os
from pathlib import Path


def append(file: Path, data: bytes) -> None:
    """Append bytes to a file, which is created if it is missing. They are on the disk when this returns."""
    place = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(place, left) :]  # a disk that fills up takes only a part
        os.fsync(place)
    finally:
        os.close(place)

"""What the archive needs of object storage, whichever it is."""

from typing import NamedTuple, Protocol

from horae.domain.errors import NotFound, Unavailable


class StoredObject(NamedTuple):
    """The name and size of an object."""

    name: str
    bytes: int


class ObjectSource(Protocol):
    """Reads objects by their names. Every call ends after some time, and raises `Unavailable` where it failed."""

    def get(self, name: str) -> bytes:
        """Read an object. Raises `NotFound`."""

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """Read a part of an object. Raises `NotFound`."""


class ArchiveTarget(ObjectSource, Protocol):
    """Keeps objects under names. Every call ends after some time, and raises `Unavailable` where it failed."""

    def put(self, name: str, content: bytes) -> None:
        """Write an object. Its name stands for its content, so that writing it again changes nothing."""

    def create(self, name: str, content: bytes) -> bool:
        """Write an object if there is none with that name. False where there is one: of many rivals one gets True."""

    def listing(self, prefix: str) -> list[StoredObject]:
        """All objects whose names begin with `prefix`, which ends in a slash, in no particular order."""

    def delete(self, name: str) -> None:
        """Delete an object. One that does not exist is no error."""


def put_verified(target: ArchiveTarget, name: str, content: bytes) -> None:
    """Write an object and read it back. Raises `Unavailable` where the target has not kept it as it was given."""
    target.put(name, content)
    _verify(target, name, content)


def create_verified(target: ArchiveTarget, name: str, content: bytes) -> bool:
    """Like `ArchiveTarget.create`; a created object is read back."""
    if not target.create(name, content):
        return False
    _verify(target, name, content)
    return True


def _verify(target: ArchiveTarget, name: str, content: bytes) -> None:
    try:
        kept = target.get(name)
    except NotFound as error:
        raise Unavailable(f"the archive said that it wrote {name}, and does not have it") from error
    if kept != content:
        raise Unavailable(
            f"the archive has {len(kept):,} bytes of {name}, other than the {len(content):,} it was given"
        )

"""Server-sent events without I/O: reads the lines of a stream as events."""

from typing import Final, NamedTuple

END: Final = "end"
"""The event after which there are no more."""
REOPEN_PAUSE_S: Final = 0.2
"""Seconds before a stream that broke is opened again; longer after each failure."""
MAX_FAILURES: Final = 20
"""Failures in a row after which a stream is given up."""


class Event(NamedTuple):
    """One event: its name, its data, and the id to continue after."""

    name: str
    data: str
    id: str | None


class EventReader:
    """Collects the lines of events. `last_id` is the id to continue after, if the stream breaks.

    >>> from horae_client.event_streams import EventReader
    >>> reader = EventReader()
    >>> [reader.feed(line) for line in ("id: 1.1", "event: line", "data: {}", "")][-1]
    Event(name='line', data='{}', id='1.1')
    """

    def __init__(self) -> None:
        self.last_id: str | None = None
        self._name = "message"
        self._data: list[str] = []

    def feed(self, line: str) -> Event | None:
        """The event that this line completes; None if it completes none."""
        if line:
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "id":
                self.last_id = value
            elif field == "event":
                self._name = value
            elif field == "data":
                self._data.append(value)
            return None
        if not self._data:
            return None
        made = Event(self._name, "\n".join(self._data), self.last_id)
        self.restart()
        return made

    def restart(self) -> None:
        """Forget the parts of an event that was not completed."""
        self._name, self._data = "message", []

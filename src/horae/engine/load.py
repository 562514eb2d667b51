"""The load of a node: which part of the usable slots is in use, on average over some time."""


class LoadMeter:
    """Collects samples until they are taken."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._samples = 0

    def sample(self, load: float) -> None:
        """Add a sample: the part of the usable slots that is in use now."""
        self._sum += load
        self._samples += 1

    def take(self) -> float | None:
        """The average since the last call; None without a sample."""
        average = self._sum / self._samples if self._samples else None
        self._sum, self._samples = 0.0, 0
        return average

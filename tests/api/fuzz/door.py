"""`horae` with one thing changed: whoever comes with a bad credential is told 401 every time, not 429 after a while."""

from horae.api import gate
from horae.boot.cli import main
from horae.runtime.meter import Rate

if __name__ == "__main__":
    gate.FAILURES = Rate(1e6, 1e6)  # type: ignore[misc]
    main()

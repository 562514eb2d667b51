"""`horae` that never tires of bad credentials and of logins: each is judged, and none told to come back later."""

from horae.api import gate
from horae.boot.cli import main
from horae.runtime.meter import Rate

if __name__ == "__main__":
    gate.FAILURE_RATE = gate.LOGIN_RATE = Rate(1e6, 1e6)  # type: ignore[misc]
    main()

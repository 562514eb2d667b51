"""`python -m benchmarks.unguarded node`: the program as it is, without the check of where calls may go.

Only here, to know what the check costs: no setting switches it off.
"""

from horae.boot.cli import main
from horae.delivery import dial

dial._check = lambda *_: None  # type: ignore[assignment]

if __name__ == "__main__":
    main()

"""`python -m benchmarks.run NAME [SECONDS]`: one benchmark, one JSON object as the last line."""

import importlib
import json
import os
import sys

from benchmarks.measure import commit, machine


def main() -> None:
    """Run the named benchmark and say what it found; the exit status says whether every bound held."""
    name, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else 30.0
    found = importlib.import_module(f"benchmarks.{name}").main(seconds)
    report = {"name": name, "commit": commit(), "machine": machine(), **found}
    path = os.environ.get("HORAE_BENCH_REPORT")
    if path:
        with open(path, "w") as file:
            json.dump(report, file, indent=2)
            file.write("\n")
    print(json.dumps(report))
    sys.exit(0 if report["ok"] else 1)


if __name__ == "__main__":
    main()

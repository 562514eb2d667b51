"""Feeds one target under atheris: `python -m tests.fuzzing TARGET [options of libFuzzer]`."""

import importlib
import sys

import atheris

from tests.fuzzing import TARGETS


def main() -> None:
    """Everything of ours is instrumented as it is imported, so that new paths are seen."""
    name, *options = sys.argv[1:]
    with atheris.instrument_imports(include=["horae"]):
        target = importlib.import_module(f"tests.fuzzing.{TARGETS[name]}")
    atheris.Setup([sys.argv[0], *options], target.feed)
    atheris.Fuzz()


main()

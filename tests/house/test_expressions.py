"""Regular expressions over what others send: none of them takes the square of its length."""

import importlib
import pkgutil
import re
import time

import pytest

LENGTH = 32 * 1024
SECONDS = 1.0
"""Of the thread's own processor time. A linear one takes milliseconds; one with the square took twenty seconds."""
OWN_FILES = "horae.service.imports."
"""The importers read a person's own file on that person's machine: nobody else waits for them."""
READERS = ("api", "delivery", "domain", "security", "service")
PIECES = (
    '\\"',
    '"',
    "\\",
    " ",
    "\t",
    "a",
    "1",
    "1a",
    "=",
    "{{",
    "{{ ",
    "{{a ",
    "a ",
    "-",
    "a.",
    "*.",
    "~",
    "\n",
    "/",
    "L-",
)
STARTS = ("", '"', "a=", "a=x", "{{", "timeout=", "1970-01-01T", "*.")


def patterns():
    found = {}
    for room in READERS:
        package = importlib.import_module(f"horae.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.startswith(OWN_FILES):
                continue
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern):
                    found.setdefault(value, f"{module.name}.{name}")
    return [pytest.param(pattern, id=name) for pattern, name in found.items()]


@pytest.mark.parametrize("pattern", patterns())
def test_an_expression_takes_no_longer_than_its_text(pattern):
    for start in STARTS:
        for piece in PIECES:
            text = start + piece * (LENGTH // len(piece)) + "\x00"
            sought = text.encode() if isinstance(pattern.pattern, bytes) else text
            began = time.thread_time()
            for _ in pattern.finditer(sought):
                pass
            took = time.thread_time() - began
            assert took < SECONDS, f"{took:.1f} s for {start!r} and {piece!r} again and again"

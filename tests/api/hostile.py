"""What strangers send: bytes that are no JSON two readers agree on, and values that fit nowhere."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

LARGEST = 256 * 1024

UNREADABLE: dict[str, bytes] = {
    "nan": b"NaN",
    "nan inside": b'{"a": [NaN]}',
    "infinity": b'{"a": Infinity}',
    "minus infinity": b'{"a": -Infinity}',
    "a number beyond floats": b'{"a": 1e999}',
    "a key twice": b'{"a": 1, "a": 1}',
    "a key twice inside": b'{"a": {"b": {"c": 1, "c": 2}}}',
    "a key twice, spelled differently": b'{"a": 1, "\\u0061": 2}',
    "65 bits": b'{"a": 9223372036854775808}',
    "minus 65 bits": b'{"a": -9223372036854775809}',
    "five thousand digits": b"9" * 5000,
    "half a pair": b'{"a": "\\ud800"}',
    "the other half": b'{"a": "\\udfff\\ud800"}',
    "half a pair as a key": b'{"\\udc00": 1}',
    "half a pair in bytes": b'{"a": "\xed\xa0\x80"}',
    "nul": b'{"a": "\\u0000"}',
    "nul as a key": b'{"\\u0000": 1}',
    "nul as a byte": b'{"a": "\x00"}',
    "nul after the end": b"{}\x00",
    "a control character": b'{"a": "\x1f"}',
    "not utf-8": b'{"a": "\xff\xfe"}',
    "overlong utf-8": b'{"a": "\xc0\x80"}',
    "utf-16": '{"a": 1}'.encode("utf-16"),
    "a mark of byte order": b"\xef\xbb\xbf{}",
    "33 levels": b"[" * 33 + b"]" * 33,
    "33 levels of objects": b'{"a":' * 33 + b"1" + b"}" * 33,
    "a hundred thousand levels": b"[" * 100_000 + b"]" * 100_000,
    "a hundred thousand that never end": b"[" * 100_000,
    "objects that never end": b'{"a":' * 40_000,
    "cut off": b'{"a": "b',
    "two at once": b"{} {}",
    "a comma too much": b'{"a": 1,}',
    "single quotes": b"{'a': 1}",
    "a comment": b'{"a": 1 /* one */}',
    "a leading zero": b'{"a": 01}',
    "hexadecimal": b'{"a": 0x1}',
    "a plus": b'{"a": +1}',
    "half a number": b'{"a": .5}',
    "a bad escape": b'{"a": "\\x41"}',
    "not json at all": b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "a pickle": b"cos\nsystem\n(S'true'\ntR.",
    "blanks": b" \t\r\n",
}
"""Each is 400, everywhere."""

WRONG: dict[str, bytes] = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"x"',
    "a number": b"0",
    "a boolean": b"true",
    "a field that is not there": b'{"__class__": "os.system", "nobody knows": 1}',
    "a proto": b'{"__proto__": {"admin": true}, "constructor": {}}',
    "a thousand fields": b"{" + b",".join(b'"f%d":0' % n for n in range(1000)) + b"}",
}
"""Each is readable, and no body of any route: 422."""

LEAVES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**31,
    2**63 - 1,
    -(2**63),
    0.1,
    1e308,
    -1e-320,
    "",
    "x" * 5000,
    "\u202egnp.exe\u200b",
    "\ufffe\uffff\U0010ffff",
    "'; drop table job; --",
    "{{7*7}}${jndi:ldap://x}%s%n",
    "<script>alert(1)</script>",
    "../../../etc/passwd",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2026-02-30T00:00:00Z",
    "job_7zzzzzzzzzzzzzzzzzzzzzzzzz",
    [],
    {},
    [[[[[[]]]]]],
    {"a": {"b": {"c": []}}},
)
"""Put in the place of every single value: whatever is answered, it is no failure of ours."""


def mutations(value: Any) -> Iterator[tuple[str, Any]]:
    """The value with each of its parts replaced by each of the leaves."""
    for place in _places(value, ()):
        for leaf in LEAVES:
            made = deepcopy(value)
            inner = made
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = leaf
            yield f"{'.'.join(map(str, place))} = {str(leaf)[:40]!r}", made


def _places(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*place, key)
        yield from _places(value[key], (*place, key))

"""Requests that schemathesis makes from the OpenAPI document; `tests/api/test_fuzz.py` runs it."""

"""A plugin for the run of a copy: the head of its report says which source it imported."""

import horae


def pytest_report_header() -> str:
    return f"horae: {horae.__file__}"

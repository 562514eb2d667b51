"""A server whose clock the tests move, in this process."""

from tests.testing.conftest import horae, horae_databases

__all__ = ["horae", "horae_databases"]

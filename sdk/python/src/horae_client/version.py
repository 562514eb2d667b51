"""The version, in one place for the package and its headers."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("horae-client")
except PackageNotFoundError:  # used from a checkout
    VERSION = "0"

"""The version of the package, also used in its headers."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("horae-client")
except PackageNotFoundError:  # used from a checkout
    VERSION = "0"

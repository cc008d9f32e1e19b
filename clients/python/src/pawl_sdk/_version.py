"""The version of this package, as it was installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("pawl-sdk")
except PackageNotFoundError:
    VERSION = "source"

"""Privacy Explorer: see privacy trade-offs before committing to them."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("privacy-explorer")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]

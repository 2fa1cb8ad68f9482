"""Libraries that are installed only by whoever needs them."""

from importlib.util import find_spec


def missing_library(what: str, extra: str, *libraries: str) -> str:
    """Return a sentence about what to install, empty if nothing is missing.

    Parameters
    ----------
    what : str
        What needs the libraries, as the sentence begins.
    extra : str
        What of this package installs them.
    """
    lacking = [name for name in libraries if find_spec(name) is None]
    if not lacking:
        return ""
    several = len(lacking) > 1
    return (
        f"{what} needs the librar{'ies' if several else 'y'} {' and '.join(lacking)}, which "
        f"{'are' if several else 'is'} not installed: pip install '.[{extra}]'"
    )

"""Privacy Explorer: see privacy trade-offs before committing to them."""

# Written here, from where the build takes it: asking the installed package for its version reads
# e-mail parsers and more, 15 ms before anything else has begun.
__version__ = "0.1.0"
__author__ = "The Privacy Explorer authors"
__licence__ = "Apache License 2.0"

__all__ = ["__author__", "__licence__", "__version__"]

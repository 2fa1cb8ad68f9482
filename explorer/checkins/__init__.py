"""What is given: check-in files in, validated tables and per-user grid counts out.

Nothing is imported before it is used.
"""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)

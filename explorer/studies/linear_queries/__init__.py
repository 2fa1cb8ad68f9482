"""Linear queries: averages of a function of users' items, released with noise."""

from explorer.studies.linear_queries.study import LinearQueries

__all__ = ["LinearQueries"]

"""Linear queries on users' data under earth mover's distance: noise, sensitivity, errors."""

from explorer.studies.linear_queries.study import LinearQueries

__all__ = ["LinearQueries"]

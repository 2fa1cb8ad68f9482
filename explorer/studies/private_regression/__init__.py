"""Private regression: least squares from reports with coordinate levels, tried out on data."""

from explorer.studies.private_regression.study import PrivateRegression

__all__ = ["PrivateRegression"]

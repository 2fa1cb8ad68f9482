"""Private regression: least squares from reports with coordinate levels, run on data."""

from explorer.studies.private_regression.study import PrivateRegression

__all__ = ["PrivateRegression"]

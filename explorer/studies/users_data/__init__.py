"""Data of users: what Algorithms 1 to 3 make of them, and how far apart two data sets are."""

from explorer.studies.users_data.study import UsersData

__all__ = ["UsersData"]

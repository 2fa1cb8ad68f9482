"""Users' data: Algorithms 1 to 3 run on files, and distances between data sets."""

from explorer.studies.users_data.study import UsersData

__all__ = ["UsersData"]

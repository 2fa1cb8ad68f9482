"""The command for data of users."""

from explorer.cli.users.command import users_command

__all__ = ["users_command"]

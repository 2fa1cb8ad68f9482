"""The state of a session and how it is stored."""

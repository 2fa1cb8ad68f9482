"""Answers in a process of their own: the newest request runs, older ones are dropped."""

"""What stands beside the curves of an answer: pinned ones, users' own, rows of Compare."""

"""What stands beside the curves of an answer: pinned ones and users' own."""

"""Public check-in files: where they are, how they are fetched, what papers made of them."""

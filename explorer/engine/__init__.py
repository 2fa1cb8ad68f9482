"""Runs studies: requests, caching, cancellation, workers, session state, recipes. No Qt."""

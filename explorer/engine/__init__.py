"""How it is run: requests, cache, cancellation, workers, session state, recipes. No Qt."""

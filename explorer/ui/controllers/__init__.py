"""Controllers between session state, background work and views."""

"""Privacy levels of coordinates: exact, certified, and as what a test can achieve."""

"""What running studies share: open files, cached results, the worker process."""

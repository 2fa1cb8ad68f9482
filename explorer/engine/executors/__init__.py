"""Executors that run functions in other processes, modelled on `concurrent.futures`."""

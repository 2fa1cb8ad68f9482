"""Arithmetic of releases: budgets, whole-number maps of users, selection, limits of attacks.

Exact fractions go in where a decision is made, and exact numbers come out; what only describes is a
double.
"""

"""Arithmetic of releases: budgets, whole-number maps of users, selection, what attacks can do.

Exact fractions go in where a decision is made, and exact numbers come out; what only describes is a
double.
"""

"""The value of a parameter at which a curve reaches a target."""

"""What presets say of our numbers, one module a field: every number in order, as it is computed.

A number is text, if it is given (a setting, a number of the paper's), or a `Said`. `Measured` is
text too: what came out of trainings or simulations that take too long to repeat here.
"""

"""How a data file is read, as a plan declares it: nothing is found out from the file itself.

If anything were (the type of a column, the delimiter, what a quote opens), one user's row would
change how the rows of others are read, and no sensitivity would hold.
"""

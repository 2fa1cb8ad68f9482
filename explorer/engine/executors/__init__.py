"""Work for other processes behind one interface, in the shape of `concurrent.futures`."""

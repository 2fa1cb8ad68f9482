"""The release door: the only way by which output of real data may leave without a stamp."""

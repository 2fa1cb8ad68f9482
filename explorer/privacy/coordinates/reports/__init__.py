"""Channels, designs and reports of a vector, and drawing them."""

"""What the paper proves of item-wise release, with its inversion and its printed forms."""

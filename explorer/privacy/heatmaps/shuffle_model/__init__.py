"""The shuffle-model protocol of Appendix F: cost, plan, protocol."""

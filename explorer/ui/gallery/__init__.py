"""The Figures tab: the figures, tables and examples of all papers, with what came out of them."""

"""Trade-off curves of guarantees, audits of mechanisms, and checks of the installation."""

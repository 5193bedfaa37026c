"""What ε is really spent: exactly on small worlds, per draw on real ones, and from outside."""

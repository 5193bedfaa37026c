"""The public model of days: every day that is made up, and how far one day is from another."""

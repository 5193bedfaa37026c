"""What can be asked about a day: a file for each kind of question, and an entry in `registry`."""

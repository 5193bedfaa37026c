"""Tables and files, read with all their faults at once and written whole or not at all."""

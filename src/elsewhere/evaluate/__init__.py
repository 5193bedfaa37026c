"""Compares what was true with what was shared; for researchers, never on what leaves a device."""

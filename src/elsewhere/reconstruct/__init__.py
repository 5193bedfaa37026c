"""From draws to a shared trajectory; never sees what was true."""

"""Files and other people's objects."""

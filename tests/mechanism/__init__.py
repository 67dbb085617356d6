"""The result and how it is reached."""

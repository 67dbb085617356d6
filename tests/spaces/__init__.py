"""Questions and privacy rules."""

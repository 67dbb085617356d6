"""What the verifier must catch, and what it must accept."""

"""One suite that every engine passes, bit for bit."""

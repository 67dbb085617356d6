"""The step that spends people's privacy."""

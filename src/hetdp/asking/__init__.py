"""A table of people, asked: from words to a plan, a promise, and an answer. It joins spaces with files."""

"""How accurate mechanisms are, before anything is spent, beside what else could be done on the same problem."""

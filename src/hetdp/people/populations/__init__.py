"""Any number of people, one ε each, and a threshold question: mechanisms in closed form (docs/theory/population.md)."""

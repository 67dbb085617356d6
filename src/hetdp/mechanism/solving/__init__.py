"""How much ε an accuracy takes: a goal, the problem scaled, a bracket narrowed, and why a goal is out of reach."""

"""The formulas, each in one place: the coordinate, the step of each notion, the closed form on a path."""

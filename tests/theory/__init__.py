"""The formulas against exact arithmetic."""

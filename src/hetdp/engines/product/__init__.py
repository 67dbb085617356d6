"""The product engine: spaces made of people, whose edges are never stored, swept axis by axis."""

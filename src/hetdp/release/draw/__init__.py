"""One exact bit: answer 1 with probability p(z), not with a float near it."""

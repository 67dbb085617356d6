"""`accuracy`: how accurate mechanisms are, compared with baselines on the same problem, before any budget is spent.

`report` is the public function and its result, and `sweep` repeats it while ε grows; `measures` defines what is
measured, `baselines` builds the other mechanisms, and `tables` compares and prints them. A new baseline is a function
in `baselines`.

The packages above `mechanism` may import this package; `certificate`, `engines` and the packages below may not.
"""

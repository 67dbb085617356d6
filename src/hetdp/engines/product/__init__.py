"""The product engine: spaces made of people, whose edges are never stored, swept axis by axis.

`sweep` has the kernels for plain sums, `grow` those for any step, `rows` visits neighbours row by row, `links` finds
where labels came from, and `engine` chooses and runs them.

Only `engines.registry` and `mechanism.balanced` import this package; other engines must not.
"""

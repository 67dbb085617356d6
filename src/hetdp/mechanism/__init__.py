"""The verbs on a problem, and their result: check, extend, design, polish, explain, accuracy, odds and solve.

`mechanism` is the result, and `resident` one that stays on a GPU. `compatibility` (check), `extension` (extend, polish)
and `design` are written once, in terms of `steps`; `local` runs these steps on arrays in this process,
`hetdp.partitioned.steps` on workers. `repair` offers values near incompatible pins, `explanation` finds what binds a
value, `balanced`, `vote` and `average/` choose values; `accuracy/`, `odds`, `coin` and `solve` measure, with `scaling`
for the same problem with other ε; `verification` is the public `verify`; `formatting` prints probabilities.

Packages above import it; it imports `certificate`, `engines`, `problem` and `theory`. A new objective is a module
here, and a name in `design`; a new measure of accuracy goes to `accuracy/`.
"""

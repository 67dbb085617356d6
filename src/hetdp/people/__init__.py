"""Problems made from people: the question (`questions`), the privacy rules (`privacy`), and the people.

`products` has votes and tallies, ordinary problems whose edges are computed. `populations` has any number of people and
a threshold question, with closed formulas instead of a search. `names` checks the names of groups and values.

It may import `mechanism` and everything below it; `releases`, `tables`, `partitioned`, `studio` and `cli` import it. A
new question is a module in `questions`, a new situation goes to `privacy`. Public names are in `hetdp.questions`,
`hetdp.privacy` and `hetdp.spaces`.
"""

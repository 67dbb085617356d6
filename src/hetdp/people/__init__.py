"""Problems made from people: what is asked (`questions`), what is promised (`privacy`), and of whom.

`products` has votes and tallies, ordinary problems whose edges are computed. `populations` has any number of people and
a threshold question, with closed formulas instead of a search. `names` checks the names of groups and values.

It may import `mechanism` and everything below it. Public names are in `hetdp.questions`, `hetdp.privacy` and
`hetdp.spaces`.
"""

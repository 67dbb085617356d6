"""Any number of people with one ε each, and a question with a closed formula: a threshold, or counts that are joined.

`population` makes a Population, `classes` and `folding` group people who are alike, `scores` turns the question into
whole scores, `balanced` and `vote` are the two designs, `joined` is balanced where several counts are joined,
`mechanism` is their result, `losses` and `odds` say what it reveals, `shares` states its accuracy by true share,
`scaling` finds the ε that an accuracy takes, and `baselines` compares it with other methods. A new baseline is a
function in `baselines`.

`people.products` and the packages above `people` may import this package; `files`, `mechanism` and the packages below
may not.
"""

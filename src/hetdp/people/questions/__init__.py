"""Yes/no questions about people, as data; `hetdp.questions` is their public name.

A kind of question is a class, a subclass of `question.Question`, and a function decorated with
`question.question_kind`, both in one module. The class says how the question is evaluated (`evaluate`, or `linear` for
a threshold), what it names, how it is written and how it is said. The function checks the arguments; its name and
arguments are the keys of written questions. A new kind is one such module and its name below.

`thresholds` and `ratio` have the kinds, `logic` joins questions by and, or, not and makes them of Python functions, and
`reading` reads documents. Lists of kinds are in alphabetical order.

`people` and the packages above it may import this package; `files`, `mechanism` and the packages below may not.
"""

from hetdp.people.questions.logic import function
from hetdp.people.questions.question import Linear, Question
from hetdp.people.questions.ratio import ratio_of_shares
from hetdp.people.questions.reading import from_document, from_json, from_toml
from hetdp.people.questions.thresholds import all_of, count, majority, share, versus, weighted_sum

__all__ = [
    "Linear",
    "Question",
    "all_of",
    "count",
    "from_document",
    "from_json",
    "from_toml",
    "function",
    "majority",
    "ratio_of_shares",
    "share",
    "versus",
    "weighted_sum",
]

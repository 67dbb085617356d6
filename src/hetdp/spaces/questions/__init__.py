"""Yes/no questions about people, as data: how many of each group have each value, and what makes the answer yes.

Each question can be evaluated over many tables at once (`holds`), printed in words (`str`) and written down
(`document`); `&`, `|` and `~` join questions. Shares and sums are compared in whole numbers, never as floats.
"""

from hetdp.spaces.questions.constructors import (
    all_of,
    count,
    function,
    majority,
    ratio_of_shares,
    share,
    versus,
    weighted_sum,
)
from hetdp.spaces.questions.question import Linear, Question
from hetdp.spaces.questions.reading import from_document, from_json, from_toml

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

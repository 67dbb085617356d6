"""Questions as data; `hetdp.questions` is where people find them."""

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

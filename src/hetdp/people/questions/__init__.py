"""Questions as data; `hetdp.questions` is where people find them."""

from hetdp.people.questions.constructors import (
    all_of,
    count,
    from_document,
    from_json,
    from_toml,
    function,
    majority,
    ratio_of_shares,
    share,
    versus,
    weighted_sum,
)
from hetdp.people.questions.question import Linear, Question

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

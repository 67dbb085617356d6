"""What the reference pages say that no docstring and no option does."""

from __future__ import annotations

MADE = "<!-- Made from the code by docs/generate.py; `make docs` writes it anew, so do not edit it here. -->"

PYTHON_INTRODUCTION = f"""\
# Python reference

{MADE}

Everything that `import hetdp` offers. Names are loaded when they are first used, so that importing costs next to
nothing. Arrays are NumPy arrays in *graph order*, the order of `graph.datasets`. p is always the probability of
answer 1.

The examples on this page begin with

```python
>>> import hetdp
>>> from hetdp import *
>>> import numpy as np
```
"""

GROUPS: list[tuple[str, str, tuple[str, ...]]] = [
    (
        "The problem",
        "Datasets, which of them are neighbours, the ε of each edge, the true answers, and the values that are given.",
        ("DatasetGraph", "from_networkx", "from_scipy", "from_table", "Problem", "PartialMechanism"),
    ),
    (
        "People instead of edges",
        "What is asked about people, and what they are promised, as data; problems made from them, and any number of"
        " people in closed form. [People instead of edges](../how-to/people.md).",
        ("questions", "privacy", "spaces"),
    ),
    (
        "A table of people",
        "A yes/no question, an ε for each person, and no graph in sight: what `hetdp ask` does, from Python."
        " [Ask a table of people](../how-to/ask.md).",
        (
            "ask",
            "AskResult",
            "Payment",
            "Workers",
            "describe_table",
            "TableDescription",
            "ColumnDescription",
            "PublicValues",
        ),
    ),
    (
        "Can it be done?",
        "Whether the given values can be private together, and if not, why.",
        ("check", "Verdict", "Witness", "Repair"),
    ),
    (
        "The best mechanism",
        "Given values at the boundary, all the others; or values for the boundary as well.",
        ("extend", "design", "polish", "Mechanism", "BindingPath"),
    ),
    (
        "How good it is",
        "Before anything is spent, and beside what else could be done:"
        " [know the accuracy](../how-to/know-the-accuracy.md).",
        ("accuracy", "Accuracy", "sweep", "Sweep"),
    ),
    (
        "Pictures",
        "With matplotlib, the extra `plots`. [Look at a mechanism](../how-to/look-at-a-mechanism.md),"
        " [gallery](../gallery.md).",
        ("plot",),
    ),
    (
        "The proof",
        "`extend` makes one by itself. [Trust a certificate](../how-to/trust-a-certificate.md) says what it proves.",
        ("verify", "Certificate"),
    ),
    (
        "What it means for people",
        "The odds that a change in the data shows, and how much ε an accuracy takes."
        " [Choose the ε](../how-to/choosing-epsilon.md), [explain the odds](../how-to/explain-the-odds.md),"
        " [find the ε](../how-to/find-the-epsilon.md).",
        ("odds", "Odds", "ClassOdds", "solve_epsilon", "SolvedEpsilon"),
    ),
    (
        "What it costs",
        "What has been spent of people's privacy, and what may be: [keep a ledger](../how-to/ledger.md),"
        " [the ledger's tables](ledger.md).",
        ("Ledger", "Charge", "Entry"),
    ),
    (
        "A release",
        "One exact draw, paid for before it is shown. [Release an answer](../how-to/release.md).",
        ("release", "Release", "price", "Price", "read_record", "verify_record", "RecordVerdict", "statement"),
    ),
    (
        "Trying it out",
        "Answers from a known seed, which are not releases.",
        ("simulate", "Simulation"),
    ),
    (
        "From outside",
        "Whether many draws contradict the promise: [audit a mechanism](../how-to/audit.md).",
        ("audit", "Audit"),
    ),
    (
        "Files",
        "[Files](files.md) describes what stands in them.",
        ("read_problem", "ProblemFile", "read_pins", "read_mechanism", "save"),
    ),
    (
        "Partitions",
        "Problems that no machine holds whole, on the workers of Dask. [Use a cluster](../how-to/cluster.md).",
        ("read_partitioned", "PartitionedFile", "PartitionedProblem"),
    ),
    (
        "Bounds by themselves",
        "What one value implies elsewhere: along a graph, or in closed form along a path.",
        ("induced_bounds", "path_mechanism"),
    ),
    (
        "Errors",
        "One tree. A message says what is wrong, where, the value, the rule, and often a hint; the same facts are"
        " attributes. The command line ends with `exit_code`.",
        (
            "HetdpError",
            "UsageError",
            "InputError",
            "Fault",
            "UnknownDatasetError",
            "NoExtensionError",
            "VerificationError",
            "BudgetError",
            "LedgerError",
            "UnwrittenRecordError",
            "ClusterError",
            "DeviceError",
        ),
    ),
    (
        "Types of names",
        "The texts that `objective=`, `engine=` and `notion=` accept, as `Literal` types for annotations.",
        ("ObjectiveName", "EngineName", "NotionName"),
    ),
    ("The version", "", ("__version__",)),
]

VERSION_NOTE = "The version, as text such as `0.1.0`. It follows Semantic Versioning."

EXIT_CODE = "what the command line ends with"
MORE = {
    ("Certificate", "worst_edge"): " It has `source`, `target`, `epsilon` (as used; also `delta`, or"
    " `mu`, as the notion has it) and `slack`.",
    (
        "Accuracy",
        "methods",
    ): " Each has `name`, `baseline` (true or false), `mechanism`, `worst_accuracy`, `worst_error`,"
    " `worst_at`, `mean_accuracy`, `mean_error`, and `by_distance`: a list with `distance` (None where no path leads to"
    " the other answer), `datasets`, `worst_error` and `mean_error` (None where the prior gives no weight); and"
    " `by_class`, with `edge_class` in place of `distance`: where one change of the class decides.",
    ("Audit", "edges"): " Each has `source`, `target`, `answer`, `promised`, `delta`, `source_count`, `target_count`,"
    " `observed`, `at_least` and `contradicted`.",
    ("Odds", "strongest"): " It has `source`, `target`, `answer`, `low` and `high`. None if no edge has a finite ε.",
    (
        "AskResult",
        "promises",
    ): " Each has `area`, `people`, `protections` (for each group `group`, `people`, `least`, `largest`,"
    " `unprotected`, `only_deciding` and `odds`), `accuracy` (margins, each with the least probability of the right"
    " answer and the largest of the wrong one) and `mechanism`.",
    ("AskResult", "simulated"): " Each has `area`, `answer` and `seed`.",
    ("Odds", "words"): " It has `answers`, `change` and `name`.",
}
ATTRIBUTES = {
    "DatasetGraph": {
        "labels": "the names of the datasets, both ways: `names`, `index(label)`, `indices(labels)`",
        "indptr": "where the neighbours of each dataset begin",
        "targets": "the neighbours, one dataset after the other",
        "parameters": "what the edges to them promise, as used: one array for each of `parameter_names`",
        "parameter_names": "`epsilon`; `epsilon`, `epsilon_back`; with `delta`, `delta_back`; or `mu`",
        "is_parallel": "whether several edges, of different classes, join the same two datasets",
        "on_grid": "true if every ε is used as a multiple of 2^-40, as in problems made of people",
    },
    "Problem": {
        "graph": "the DatasetGraph",
        "answers": "the true answers as 1 and 2, in graph order",
        "notion": "the notion of privacy; `notion.name` is its name",
        "about": "the words for people",
        "scores": "what everybody counts toward a threshold, where the problem is made of people; else None",
    },
    "ProblemFile": {
        "problem": "the Problem",
        "partial": "the PartialMechanism: the values that the file gives; without any if it gives none",
    },
    "UsageError": {
        "what": "what cannot be done",
        "rule": "what would have been accepted",
        "hint": "what to do about it; may be empty",
    },
    "DeviceError": {
        "what": "what cannot be done",
        "rule": "what would have been accepted",
        "hint": "what to do about it; may be empty",
    },
    "InputError": {
        "subject": "which input it is, such as a file or `edges`",
        "faults": "the faults, the first thousand of them",
        "total": "how many there are in all",
    },
    "UnknownDatasetError": {"label": "the label", "message": "the whole message"},
    "NoExtensionError": {
        "witness": "a Witness: why not",
        "repair": "a Repair: values that do extend",
    },
    "PartitionedFile": {
        "problem": "the PartitionedProblem",
        "partial": "the values that its tables give, for `check` and `extend`; `count` says how many",
    },
    "ClusterError": {
        "what": "what happened",
        "why": "why, as far as it is known",
        "hint": "what to do about it; may be empty",
    },
    "VerificationError": {"certificate": "the Certificate of what was withheld"},
    "UnwrittenRecordError": {
        "release": "the Release: what was published, and its record",
        "reason": "why a file was not written",
    },
    "BudgetError": {
        "source": "the data that was asked about",
        "exceeded": "how many accounts would exceed their cap",
        "accounts": "how many were to pay",
        "classes": "the names of those that would, if they are classes; people are never named",
    },
    "LedgerError": {
        "place": "where the ledger is, without anybody's password",
        "what": "what is wrong with it",
        "rule": "what would have been accepted, or what follows",
        "spent": "False if nothing was spent, None if that is not known, True if it was, but is not confirmed",
    },
}

COMMAND_INTRODUCTION = f"""\
# Command line

{MADE}

`hetdp VERB PROBLEM …`, or `python -P -m hetdp VERB PROBLEM …`. (Without `-P`, Python would search the working folder
for modules before hetdp starts, and run what it finds there.)
Results go to standard output, messages to standard error. A progress bar appears after a second, and only on a
terminal. With `--json`, results and errors are one JSON document on
standard output: [JSON output](json-output.md). What files look like: [files](files.md).
"""

ARGUMENTS = {
    "PROBLEM": "a JSON file, a folder with the tables `datasets` and `edges`, or `-` for JSON on standard input",
    "[TABLE|PROBLEM]": "a table of people, a problem, or an approved plan; without it, the studio lets you choose",
    "MECHANISM": "a mechanism as `.csv`, `.parquet` or `.json`, or `-` for JSON on standard input",
    "[MECHANISM]...": "mechanisms as `.csv`, `.parquet` or `.json`; without any, `accuracy` compares the objectives,"
    " and `plot` draws the problem",
    "DATASET...": "one or more labels, as they are printed. After `--` they may begin with `-`",
    "RECORD": "the record of a release, a `.json` file; see [release an answer](../how-to/release.md)",
    "record ACTION": "`verify` compares the record with what is given; `statement` prints what it is about",
    "TABLE": "a `.csv`, `.xlsx`, `.parquet`, `.arrow` or `.sqlite` file with one row for each person;"
    " see [ask a table of people](../how-to/ask.md)",
    "votes|tallies": "one dataset for each combination of people's values, or of counts of groups;"
    " see [people instead of edges](../how-to/people.md)",
    "ACTION": "`init`, `declare`, `status`, `history`, `person`, `verify`, `export` or `record`;"
    " see [keep a ledger](../how-to/ledger.md)",
    "LEDGER": "the path of an SQLite file, or `postgresql://USER@HOST/DATABASE`",
    "[RECORD]...": "for `verify`: records of releases, which must be found in the ledger",
    "bash|zsh|fish": "which shell the script is for; see [shell completion](../how-to/shell-completion.md)",
}

EXIT_CODES_NOTE = """\
`check`, `extend` and `design` end with 4 if no private mechanism has the given values. `verify` ends with 5 if the
mechanism is not private, and with 0 if it is, whether or not it is the best one. `audit` ends with 5 if the draws
contradict a promise, `record` if a record is not as it should be. `release` and `ask` end with 6 if a budget does not
suffice, and like `ledger` with 7 if the ledger is missing, locked, damaged, changed, or older than its records; then
nothing was spent. If a commit failed in its last moment, they end with 7, too, and the message says that it is not
known whether this was spent: ask again, which is paid for once. They end with 9 if the answer was paid for, but it, or
its record, could not be written: asking again gives the same answer for nothing. A command whose output is no longer
read, as in `hetdp boundary poll.json | head`, ends with the exit code that it would have had: `hetdp verify poll.json
mechanism.csv | true` ends with 5 if the mechanism is not private.

`HETDP_DEBUG=1` in the environment shows where an error comes from.
"""

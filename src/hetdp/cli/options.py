"""The base class of verbs, and the options that several verbs share."""

from __future__ import annotations

import click

from hetdp.cli.group import VERBS
from hetdp.cli.output import Bar, Output

TYPE_CHECKING = False  # as in hetdp/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

AUTO, DASK = "auto", "dask"
ENGINES = (AUTO, "cpu", "reference", DASK)  # a test compares them with the registry, which takes long to load

PATH = click.Path(allow_dash=True, readable=False)  # the reader checks whether it can be read
PROBLEM = click.Argument(["problem"], type=PATH, metavar="PROBLEM")
PINS = click.Option(
    ["--pins"],
    type=PATH,
    metavar="FILE",
    help="Take the given values from this table (dataset, and p, z or error) instead of PROBLEM. Even with --engine"
    " dask, it is read by this process and not by workers, so keep it small.",
)
ENGINE = click.Option(
    ["--engine"],
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="The search engine; all of them give the same numbers, bit for bit. dask: workers search partitions.",
)
CLUSTER = [
    click.Option(
        ["--cluster"],
        metavar="ADDRESS",
        help="With --engine dask: the address of a Dask scheduler, such as tls://node:8786. Default: local workers.",
    ),
    click.Option(["--workers"], type=click.IntRange(1), metavar="N", help="How many local workers to start."),
    click.Option(["--memory"], metavar="SIZE", help="The memory of each local worker, such as 2GB (the default)."),
    click.Option(
        ["--work"],
        type=PATH,
        metavar="FOLDER",
        help="A folder that all workers can access, kept for later runs. Default, without --cluster: a temporary one.",
    ),
    click.Option(
        ["--partitions"], metavar="N", help="The number of partitions, or files: one for each file of datasets."
    ),
    click.Option(
        ["--by"], metavar="COLUMN", help="Put datasets with the same value in this column into one partition."
    ),
]
HOW = click.Option(
    ["--engine"],
    type=click.Choice([AUTO, DASK]),
    default="auto",
    show_default=True,
    help="dask: workers search partitions.",
)
ENGINE_HERE = click.Option(
    ["--engine"],
    type=click.Choice(ENGINES[:-1]),
    default="auto",
    show_default=True,
    help="The search engine; all of them give the same numbers, bit for bit.",
)
DUPLICATES = click.Option(
    ["--duplicates"],
    type=click.Choice(["error", "min"]),
    default="error",
    show_default=True,
    help="If an edge of one class is listed twice with different ε: refuse it, or keep the smaller ε.",
)
POSITIVE = click.Option(
    ["--positive"], metavar="ANSWER", help="The answer that p is the probability of, if the answers are not 1 and 2."
)
PRIOR = click.Option(
    ["--prior"],
    type=click.Choice(["uniform", "weight"]),
    help="The weights of means: equal, or those of PROBLEM. Default: those of PROBLEM, if it has any.",
)
QUIET = click.Option(["-q", "--quiet"], is_flag=True, help="Print only errors on standard error.")
JSON = click.Option(["as_json", "--json"], is_flag=True, help="Print results and errors as JSON on standard output.")
INPUT_OPTIONS = [DUPLICATES, POSITIVE]
OUTPUT_OPTIONS = [QUIET, JSON]


class Verb(click.Command):
    """A command whose help begins with examples, and whose body gets an `Output`.

    Args:
        name: the name of the verb.
        body: the function that runs it, with the output and the parameters by name; returns the exit code or None.
        examples: command lines, each followed by a few words.
        about: the description below the examples.
        params: its arguments and options.
        stages: the first words of its stages, for the progress bar.
    """

    def __init__(
        self,
        name: str,
        body: Callable[..., int | None],
        examples: str,
        about: str,
        params: Sequence[click.Parameter],
        stages: Sequence[str] = ("working",),
    ) -> None:
        self._body, self._stages = body, stages
        super().__init__(
            name,
            params=list(params),
            help=f"\b\n{examples.strip()}\n\n{about.strip()}",
            short_help=VERBS[name],
            callback=self._run,
            options_metavar="[OPTIONS]",
        )

    def _run(self, quiet: bool = False, **given: Any) -> int | None:
        with Bar(self._stages, shown=not quiet) as bar:
            return self._body(Output(bar, quiet), **given)

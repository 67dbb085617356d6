"""hetdp: the provably best private yes/no answer when different people, or situations, need different privacy.

A name is loaded when it is first used, so ``import hetdp`` itself loads no library, not even NumPy. ``__all__`` lists
the public names, the imports below it are for type checkers, and ``__getattr__`` imports the module that defines one.
To add a name, add it to all three (a test compares them), to a page below docs/reference/python and to the changelog.
"""

from __future__ import annotations

import sys

from hetdp.version import VERSION as __version__

TYPE_CHECKING = False  # type checkers take it as true; importing it would double the cost of `import hetdp`

# fmt: off
__all__ = [
    "Accuracy", "AskResult", "Audit", "BindingPath", "BudgetError", "Certificate", "Charge", "ClassOdds",
    "ClusterError", "ColumnDescription", "DatasetGraph", "DeviceError", "EngineName", "Entry", "Fault", "HetdpError",
    "InputError", "Ledger", "LedgerError", "Mechanism", "NoExtensionError", "NotionName", "ObjectiveName", "Odds",
    "PartialMechanism", "PartitionedFile", "PartitionedProblem", "Payment", "Price", "Problem", "ProblemFile",
    "PublicValues", "RecordVerdict", "Release", "Repair", "Simulation", "SolvedEpsilon", "Sweep", "TableDescription",
    "UnknownDatasetError", "UnwrittenRecordError", "UsageError", "Verdict", "VerificationError", "Witness", "Workers",
    "__version__", "accuracy", "ask", "audit", "check", "describe_plan", "describe_table", "design", "extend",
    "from_networkx", "from_scipy", "from_table", "induced_bounds", "odds", "path_mechanism", "plot", "polish", "price",
    "privacy", "questions", "read_mechanism", "read_partitioned", "read_pins", "read_problem", "read_record", "release",
    "save", "simulate", "solve_epsilon", "spaces", "statement", "sweep", "to_arrow", "to_networkx", "to_opendp",
    "to_pandas", "to_polars", "verify", "verify_record",
]
# fmt: on

if TYPE_CHECKING:
    from hetdp import privacy, questions, spaces
    from hetdp.certificate.certificate import Certificate
    from hetdp.engines.registry import EngineName
    from hetdp.errors import (
        BudgetError,
        ClusterError,
        DeviceError,
        Fault,
        HetdpError,
        InputError,
        LedgerError,
        NoExtensionError,
        UnknownDatasetError,
        UnwrittenRecordError,
        UsageError,
        VerificationError,
    )
    from hetdp.files.frames import from_table, to_arrow, to_pandas, to_polars
    from hetdp.files.matrices import from_scipy
    from hetdp.files.mechanisms import read_mechanism
    from hetdp.files.networks import from_networkx, to_networkx
    from hetdp.files.problems import ProblemFile, read_pins, read_problem
    from hetdp.files.saving import save
    from hetdp.mechanism.accuracy.report import Accuracy, accuracy
    from hetdp.mechanism.accuracy.sweep import Sweep, sweep
    from hetdp.mechanism.compatibility import Verdict, Witness, check
    from hetdp.mechanism.design import ObjectiveName, design
    from hetdp.mechanism.explanation import BindingPath
    from hetdp.mechanism.extension import extend, induced_bounds, polish
    from hetdp.mechanism.mechanism import Mechanism
    from hetdp.mechanism.odds import ClassOdds, Odds, odds
    from hetdp.mechanism.repair import Repair
    from hetdp.mechanism.solve import SolvedEpsilon, solve_epsilon
    from hetdp.mechanism.verification import verify
    from hetdp.partitioned.problem import PartitionedProblem
    from hetdp.partitioned.reading import PartitionedFile, read_partitioned
    from hetdp.partitioned.tables import Workers
    from hetdp.plots.plot import plot
    from hetdp.problem.graph import DatasetGraph
    from hetdp.problem.partial import PartialMechanism
    from hetdp.problem.problem import Problem
    from hetdp.releases.audit import Audit, audit
    from hetdp.releases.ledger.chain import Entry
    from hetdp.releases.ledger.charge import Charge
    from hetdp.releases.ledger.ledger import Ledger
    from hetdp.releases.opendp import to_opendp
    from hetdp.releases.price import Price, price
    from hetdp.releases.record.document import read_record
    from hetdp.releases.record.summary import statement
    from hetdp.releases.record.verification import RecordVerdict
    from hetdp.releases.release import Release, release
    from hetdp.releases.simulation import Simulation, simulate
    from hetdp.tables.ask import AskResult, Payment, ask
    from hetdp.tables.description import ColumnDescription, PublicValues, TableDescription, describe_table
    from hetdp.tables.plan_description import describe_plan
    from hetdp.tables.record import verify_record
    from hetdp.theory.catalogue import NotionName
    from hetdp.theory.path import path_mechanism

if not TYPE_CHECKING:  # hidden from type checkers: a module with __getattr__ has every name, for them

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module 'hetdp' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        from hetdp.interrupts import delay_interrupts

        with delay_interrupts():
            match name:
                case "Certificate":
                    from hetdp.certificate import certificate as home
                case "EngineName":
                    from hetdp.engines import registry as home
                case (
                    "BudgetError"
                    | "ClusterError"
                    | "DeviceError"
                    | "Fault"
                    | "HetdpError"
                    | "InputError"
                    | "LedgerError"
                    | "NoExtensionError"
                    | "UnknownDatasetError"
                    | "UnwrittenRecordError"
                    | "UsageError"
                    | "VerificationError"
                ):
                    from hetdp import errors as home
                case "from_table" | "to_arrow" | "to_pandas" | "to_polars":
                    from hetdp.files import frames as home
                case "from_scipy":
                    from hetdp.files import matrices as home
                case "read_mechanism":
                    from hetdp.files import mechanisms as home
                case "from_networkx" | "to_networkx":
                    from hetdp.files import networks as home
                case "ProblemFile" | "read_pins" | "read_problem":
                    from hetdp.files import problems as home
                case "save":
                    from hetdp.files import saving as home
                case "Accuracy" | "accuracy":
                    from hetdp.mechanism.accuracy import report as home
                case "Sweep" | "sweep":
                    from hetdp.mechanism.accuracy import sweep as home
                case "Verdict" | "Witness" | "check":
                    from hetdp.mechanism import compatibility as home
                case "ObjectiveName" | "design":
                    from hetdp.mechanism import design as home
                case "BindingPath":
                    from hetdp.mechanism import explanation as home
                case "extend" | "induced_bounds" | "polish":
                    from hetdp.mechanism import extension as home
                case "Mechanism":
                    from hetdp.mechanism import mechanism as home
                case "ClassOdds" | "Odds" | "odds":
                    from hetdp.mechanism import odds as home
                case "Repair":
                    from hetdp.mechanism import repair as home
                case "SolvedEpsilon" | "solve_epsilon":
                    from hetdp.mechanism import solve as home
                case "verify":
                    from hetdp.mechanism import verification as home
                case "PartitionedProblem":
                    from hetdp.partitioned import problem as home
                case "PartitionedFile" | "read_partitioned":
                    from hetdp.partitioned import reading as home
                case "Workers":
                    from hetdp.partitioned import tables as home
                case "plot":
                    from hetdp.plots import plot as home
                case "DatasetGraph":
                    from hetdp.problem import graph as home
                case "PartialMechanism":
                    from hetdp.problem import partial as home
                case "Problem":
                    from hetdp.problem import problem as home
                case "Audit" | "audit":
                    from hetdp.releases import audit as home
                case "Entry":
                    from hetdp.releases.ledger import chain as home
                case "Charge":
                    from hetdp.releases.ledger import charge as home
                case "Ledger":
                    from hetdp.releases.ledger import ledger as home
                case "to_opendp":
                    from hetdp.releases import opendp as home
                case "Price" | "price":
                    from hetdp.releases import price as home
                case "read_record":
                    from hetdp.releases.record import document as home
                case "statement":
                    from hetdp.releases.record import summary as home
                case "RecordVerdict":
                    from hetdp.releases.record import verification as home
                case "Release" | "release":
                    from hetdp.releases import release as home
                case "Simulation" | "simulate":
                    from hetdp.releases import simulation as home
                case "AskResult" | "Payment" | "ask":
                    from hetdp.tables import ask as home
                case "describe_plan":
                    from hetdp.tables import plan_description as home
                case "ColumnDescription" | "PublicValues" | "TableDescription" | "describe_table":
                    from hetdp.tables import description as home
                case "verify_record":
                    from hetdp.tables import record as home
                case "NotionName":
                    from hetdp.theory import catalogue as home
                case "path_mechanism":
                    from hetdp.theory import path as home
                case "privacy":
                    import hetdp.privacy as home

                    return home
                case "questions":
                    import hetdp.questions as home

                    return home
                case "spaces":
                    import hetdp.spaces as home

                    return home
        value = globals()[name] = getattr(home, name)
        return value

    def __dir__():
        return __all__

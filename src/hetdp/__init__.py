"""hetdp: the provably best private yes/no answer when different people, or situations, need different privacy.

Names are loaded when first used, so that ``import hetdp`` itself costs next to nothing.
"""

from __future__ import annotations

from hetdp.version import VERSION as __version__

TYPE_CHECKING = False  # type checkers take it as true; importing it would double the cost of `import hetdp`

if TYPE_CHECKING:
    from typing import Any

    from hetdp import privacy, questions, spaces
    from hetdp.certificate.certificate import Certificate, verify
    from hetdp.errors import (
        BudgetError,
        ClusterError,
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
    from hetdp.files.frames import from_table
    from hetdp.files.matrices import from_scipy
    from hetdp.files.mechanisms import read_mechanism
    from hetdp.files.networks import from_networkx
    from hetdp.files.problems import ProblemFile, read_pins, read_problem
    from hetdp.files.saving import save
    from hetdp.mechanism.accuracy.report import Accuracy, accuracy
    from hetdp.mechanism.compatibility import Repair, Verdict, Witness, check
    from hetdp.mechanism.design import design
    from hetdp.mechanism.explanation import BindingPath
    from hetdp.mechanism.extension import extend, induced_bounds, polish
    from hetdp.mechanism.mechanism import Mechanism
    from hetdp.mechanism.odds import Odds, odds
    from hetdp.mechanism.solve import SolvedEpsilon, solve_epsilon
    from hetdp.partitioned.mechanism import PartitionedMechanism
    from hetdp.partitioned.problem import PartitionedProblem
    from hetdp.partitioned.reading import PartitionedFile, read_partitioned
    from hetdp.partitioned.workers import Workers
    from hetdp.plots.plot import plot
    from hetdp.problem.graph import DatasetGraph
    from hetdp.problem.partial import PartialMechanism
    from hetdp.problem.problem import Problem
    from hetdp.releases.audit import Audit, audit
    from hetdp.releases.ledger.chain import Entry
    from hetdp.releases.ledger.charge import Charge
    from hetdp.releases.ledger.ledger import Ledger
    from hetdp.releases.price import Price, price
    from hetdp.releases.record.document import read_record
    from hetdp.releases.record.verification import RecordVerdict
    from hetdp.releases.release import Release, release
    from hetdp.releases.simulation import Simulation, simulate
    from hetdp.tables.ask import AskResult, Payment, ask
    from hetdp.tables.record import verify_record
    from hetdp.theory.path import homogeneous_path_mechanism, path_mechanism

_HOME = {
    "Accuracy": "hetdp.mechanism.accuracy.report",
    "AskResult": "hetdp.tables.ask",
    "Audit": "hetdp.releases.audit",
    "BindingPath": "hetdp.mechanism.explanation",
    "BudgetError": "hetdp.errors",
    "Certificate": "hetdp.certificate.certificate",
    "Charge": "hetdp.releases.ledger.charge",
    "ClusterError": "hetdp.errors",
    "DatasetGraph": "hetdp.problem.graph",
    "Entry": "hetdp.releases.ledger.chain",
    "Fault": "hetdp.errors",
    "HetdpError": "hetdp.errors",
    "InputError": "hetdp.errors",
    "Ledger": "hetdp.releases.ledger.ledger",
    "LedgerError": "hetdp.errors",
    "Mechanism": "hetdp.mechanism.mechanism",
    "NoExtensionError": "hetdp.errors",
    "Odds": "hetdp.mechanism.odds",
    "PartialMechanism": "hetdp.problem.partial",
    "PartitionedFile": "hetdp.partitioned.reading",
    "PartitionedMechanism": "hetdp.partitioned.mechanism",
    "PartitionedProblem": "hetdp.partitioned.problem",
    "Payment": "hetdp.tables.ask",
    "Price": "hetdp.releases.price",
    "Problem": "hetdp.problem.problem",
    "ProblemFile": "hetdp.files.problems",
    "RecordVerdict": "hetdp.releases.record.verification",
    "Release": "hetdp.releases.release",
    "Repair": "hetdp.mechanism.compatibility",
    "Simulation": "hetdp.releases.simulation",
    "SolvedEpsilon": "hetdp.mechanism.solve",
    "UnknownDatasetError": "hetdp.errors",
    "UnwrittenRecordError": "hetdp.errors",
    "UsageError": "hetdp.errors",
    "Verdict": "hetdp.mechanism.compatibility",
    "VerificationError": "hetdp.errors",
    "Witness": "hetdp.mechanism.compatibility",
    "Workers": "hetdp.partitioned.workers",
    "accuracy": "hetdp.mechanism.accuracy.report",
    "ask": "hetdp.tables.ask",
    "audit": "hetdp.releases.audit",
    "check": "hetdp.mechanism.compatibility",
    "design": "hetdp.mechanism.design",
    "extend": "hetdp.mechanism.extension",
    "from_networkx": "hetdp.files.networks",
    "from_scipy": "hetdp.files.matrices",
    "from_table": "hetdp.files.frames",
    "homogeneous_path_mechanism": "hetdp.theory.path",
    "induced_bounds": "hetdp.mechanism.extension",
    "load": "hetdp.files.mechanisms",
    "odds": "hetdp.mechanism.odds",
    "path_mechanism": "hetdp.theory.path",
    "plot": "hetdp.plots.plot",
    "polish": "hetdp.mechanism.extension",
    "price": "hetdp.releases.price",
    "read_partitioned": "hetdp.partitioned.reading",
    "read_pins": "hetdp.files.problems",
    "read_problem": "hetdp.files.problems",
    "read_record": "hetdp.releases.record.document",
    "release": "hetdp.releases.release",
    "save": "hetdp.files.saving",
    "simulate": "hetdp.releases.simulation",
    "solve_epsilon": "hetdp.mechanism.solve",
    "verify": "hetdp.certificate.certificate",
    "verify_record": "hetdp.tables.record",
}

_MODULES = (
    "privacy",
    "questions",
    "spaces",
)  # as they are: `hetdp.questions.count(...)` needs no import of its own

__all__ = [
    "Accuracy",
    "AskResult",
    "Audit",
    "BindingPath",
    "BudgetError",
    "Certificate",
    "Charge",
    "ClusterError",
    "DatasetGraph",
    "Entry",
    "Fault",
    "HetdpError",
    "InputError",
    "Ledger",
    "LedgerError",
    "Mechanism",
    "NoExtensionError",
    "Odds",
    "PartialMechanism",
    "PartitionedFile",
    "PartitionedMechanism",
    "PartitionedProblem",
    "Payment",
    "Price",
    "Problem",
    "ProblemFile",
    "RecordVerdict",
    "Release",
    "Repair",
    "Simulation",
    "SolvedEpsilon",
    "UnknownDatasetError",
    "UnwrittenRecordError",
    "UsageError",
    "Verdict",
    "VerificationError",
    "Witness",
    "Workers",
    "__version__",
    "accuracy",
    "ask",
    "audit",
    "check",
    "design",
    "extend",
    "from_networkx",
    "from_scipy",
    "from_table",
    "homogeneous_path_mechanism",
    "induced_bounds",
    "load",
    "odds",
    "path_mechanism",
    "plot",
    "polish",
    "price",
    "privacy",
    "questions",
    "read_partitioned",
    "read_pins",
    "read_problem",
    "read_record",
    "release",
    "save",
    "simulate",
    "solve_epsilon",
    "spaces",
    "verify",
    "verify_record",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME and name not in _MODULES:
        raise AttributeError(f"module 'hetdp' has no attribute {name!r}")
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"hetdp.{name}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

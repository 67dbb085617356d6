"""hetdp: the provably best private yes/no answer when different people, or situations, need different privacy.

The public names are listed twice, and a test compares the two lists: the imports below are what type checkers and the
import linter see, so that a misspelt name is an error and every dependency is visible; ``_NAMES`` is what runs. A name
is loaded when it is first used, so ``import hetdp`` itself loads no library, not even NumPy. To add a name, add it to
both lists, to docs/generator/described.py and to the changelog.
"""

from __future__ import annotations

import sys

from hetdp.version import VERSION as __version__  # noqa: F401 (public, as __all__ says)

TYPE_CHECKING = False  # type checkers take it as true; importing it would double the cost of `import hetdp`

if TYPE_CHECKING:
    # isort: off
    # one import for each module; isort would make one for each name
    from hetdp import privacy as privacy, questions as questions, spaces as spaces
    from hetdp.certificate.certificate import Certificate as Certificate
    from hetdp.engines.registry import EngineName as EngineName
    from hetdp.errors import (
        BudgetError as BudgetError,
        ClusterError as ClusterError,
        DeviceError as DeviceError,
        Fault as Fault,
        HetdpError as HetdpError,
        InputError as InputError,
        LedgerError as LedgerError,
        NoExtensionError as NoExtensionError,
        UnknownDatasetError as UnknownDatasetError,
        UnwrittenRecordError as UnwrittenRecordError,
        UsageError as UsageError,
        VerificationError as VerificationError,
    )
    from hetdp.files.frames import from_table as from_table
    from hetdp.files.matrices import from_scipy as from_scipy
    from hetdp.files.mechanisms import read_mechanism as read_mechanism
    from hetdp.files.networks import from_networkx as from_networkx
    from hetdp.files.problems import ProblemFile as ProblemFile, read_pins as read_pins, read_problem as read_problem
    from hetdp.files.saving import save as save
    from hetdp.mechanism.accuracy.report import Accuracy as Accuracy, accuracy as accuracy
    from hetdp.mechanism.compatibility import Verdict as Verdict, Witness as Witness, check as check
    from hetdp.mechanism.design import ObjectiveName as ObjectiveName, design as design
    from hetdp.mechanism.explanation import BindingPath as BindingPath
    from hetdp.mechanism.extension import extend as extend, induced_bounds as induced_bounds, polish as polish
    from hetdp.mechanism.mechanism import Mechanism as Mechanism
    from hetdp.mechanism.odds import ClassOdds as ClassOdds, Odds as Odds, odds as odds
    from hetdp.mechanism.repair import Repair as Repair
    from hetdp.mechanism.solve import SolvedEpsilon as SolvedEpsilon, solve_epsilon as solve_epsilon
    from hetdp.mechanism.verification import verify as verify
    from hetdp.partitioned.problem import PartitionedProblem as PartitionedProblem
    from hetdp.partitioned.reading import PartitionedFile as PartitionedFile, read_partitioned as read_partitioned
    from hetdp.partitioned.tables import Workers as Workers
    from hetdp.plots.plot import plot as plot
    from hetdp.problem.graph import DatasetGraph as DatasetGraph
    from hetdp.problem.partial import PartialMechanism as PartialMechanism
    from hetdp.problem.problem import Problem as Problem
    from hetdp.releases.audit import Audit as Audit, audit as audit
    from hetdp.releases.ledger.chain import Entry as Entry
    from hetdp.releases.ledger.charge import Charge as Charge
    from hetdp.releases.ledger.ledger import Ledger as Ledger
    from hetdp.releases.price import Price as Price, price as price
    from hetdp.releases.record.document import read_record as read_record
    from hetdp.releases.record.verification import RecordVerdict as RecordVerdict
    from hetdp.releases.release import Release as Release, release as release
    from hetdp.releases.simulation import Simulation as Simulation, simulate as simulate
    from hetdp.tables.ask import AskResult as AskResult, Payment as Payment, ask as ask
    from hetdp.tables.description import (
        ColumnDescription as ColumnDescription,
        PublicValues as PublicValues,
        TableDescription as TableDescription,
        describe_table as describe_table,
    )
    from hetdp.tables.record import verify_record as verify_record
    from hetdp.theory.catalogue import NotionName as NotionName
    from hetdp.theory.path import path_mechanism as path_mechanism
    # isort: on

if not TYPE_CHECKING:  # hidden from type checkers: a module with __getattr__ has every name, for them
    _NAMES = {
        "hetdp.certificate.certificate": ("Certificate",),
        "hetdp.engines.registry": ("EngineName",),
        "hetdp.errors": (
            "BudgetError",
            "ClusterError",
            "DeviceError",
            "Fault",
            "HetdpError",
            "InputError",
            "LedgerError",
            "NoExtensionError",
            "UnknownDatasetError",
            "UnwrittenRecordError",
            "UsageError",
            "VerificationError",
        ),
        "hetdp.files.frames": ("from_table",),
        "hetdp.files.matrices": ("from_scipy",),
        "hetdp.files.mechanisms": ("read_mechanism",),
        "hetdp.files.networks": ("from_networkx",),
        "hetdp.files.problems": ("ProblemFile", "read_pins", "read_problem"),
        "hetdp.files.saving": ("save",),
        "hetdp.mechanism.accuracy.report": ("Accuracy", "accuracy"),
        "hetdp.mechanism.compatibility": ("Verdict", "Witness", "check"),
        "hetdp.mechanism.design": ("ObjectiveName", "design"),
        "hetdp.mechanism.explanation": ("BindingPath",),
        "hetdp.mechanism.extension": ("extend", "induced_bounds", "polish"),
        "hetdp.mechanism.mechanism": ("Mechanism",),
        "hetdp.mechanism.odds": ("ClassOdds", "Odds", "odds"),
        "hetdp.mechanism.repair": ("Repair",),
        "hetdp.mechanism.solve": ("SolvedEpsilon", "solve_epsilon"),
        "hetdp.mechanism.verification": ("verify",),
        "hetdp.partitioned.problem": ("PartitionedProblem",),
        "hetdp.partitioned.reading": ("PartitionedFile", "read_partitioned"),
        "hetdp.partitioned.tables": ("Workers",),
        "hetdp.plots.plot": ("plot",),
        "hetdp.problem.graph": ("DatasetGraph",),
        "hetdp.problem.partial": ("PartialMechanism",),
        "hetdp.problem.problem": ("Problem",),
        "hetdp.releases.audit": ("Audit", "audit"),
        "hetdp.releases.ledger.chain": ("Entry",),
        "hetdp.releases.ledger.charge": ("Charge",),
        "hetdp.releases.ledger.ledger": ("Ledger",),
        "hetdp.releases.price": ("Price", "price"),
        "hetdp.releases.record.document": ("read_record",),
        "hetdp.releases.record.verification": ("RecordVerdict",),
        "hetdp.releases.release": ("Release", "release"),
        "hetdp.releases.simulation": ("Simulation", "simulate"),
        "hetdp.tables.ask": ("AskResult", "Payment", "ask"),
        "hetdp.tables.description": ("ColumnDescription", "PublicValues", "TableDescription", "describe_table"),
        "hetdp.tables.record": ("verify_record",),
        "hetdp.theory.catalogue": ("NotionName",),
        "hetdp.theory.path": ("path_mechanism",),
    }
    _MODULES = ("privacy", "questions", "spaces")  # public modules, loaded like names
    _HOME = {name: module for module, names in _NAMES.items() for name in names}

    __all__ = sorted([*_HOME, *_MODULES, "__version__"])

    def __getattr__(name):
        if name not in _HOME and name not in _MODULES:
            raise AttributeError(f"module 'hetdp' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"hetdp.{name}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value

    def __dir__():
        return __all__

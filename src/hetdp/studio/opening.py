"""What `hetdp studio` opens: a problem, a table of people, or an approved plan, by the suffix and the first look."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from hetdp.documents import require_path
from hetdp.errors import HetdpError, UsageError
from hetdp.files.formats.registry import DOCUMENT, SUFFIXES
from hetdp.files.problems import FOLDER_FILES, STANDARD
from hetdp.studio.gallery import GALLERY
from hetdp.studio.guard import PEOPLE
from hetdp.studio.people.folder import OpenedFolder, is_plan
from hetdp.studio.people.session import PeopleSession
from hetdp.studio.session import Document, Session
from hetdp.studio.uploads import document_from_path
from hetdp.tables.description import describe_table
from hetdp.tables.formats import ADVICE, OPENERS
from hetdp.tables.sources import require_exists
from hetdp.text import format_value

EDGES, DATASETS = {"source", "target"}, {"dataset", "query"}  # columns of the tables of a problem
RULE = f"the studio opens a table of people ({', '.join(OPENERS)}, or a folder), a problem ({DOCUMENT}, or a folder)"


class Opening(NamedTuple):
    """What a studio shows at first.

    Attributes:
        session: the session of the page for problems.
        people: the session of the pages for tables.
        first: the page that is shown: the one for problems, or that for tables.
    """

    session: Session
    people: PeopleSession
    first: str


def open_path(path: str | None, duplicates: Literal["error", "min"] = "error", positive: str | None = None) -> Opening:
    """Opens what a path names; nothing if there is none.

    Raises:
        UsageError: it is neither a problem nor a table, or is a part of a problem.
        InputError: it cannot be read.
    """
    if path is None or path == STANDARD or _is_problem(Path(path)):
        document = _example() if path is None else document_from_path(path, duplicates, positive)
        return Opening(Session(document), PeopleSession(OpenedFolder(Path.cwd())), "")
    place = require_path(path).absolute()
    require_exists(place)
    people = PeopleSession(OpenedFolder(place.parent))
    if place.suffix.lower() == DOCUMENT and is_plan(place):
        people.open_plan(place.name)
        people.step = "release"
    else:
        _require_people(place)
        people.open(place)
        if people.refused and place.is_dir():  # then it may be a folder with several tables
            people.folder = OpenedFolder(place)
    return Opening(Session(_example()), people, f"{PEOPLE}/")


def _example() -> Document:
    return GALLERY["three-voters"].make()


def _is_problem(place: Path) -> bool:
    """True for documents that are not plans, and for folders with the files of a problem.

    Raises:
        UsageError: no format is known for it.
    """
    if place.is_dir():
        return any(entry.name in FOLDER_FILES for entry in place.iterdir())
    suffix = place.suffix.lower()
    if suffix not in OPENERS and suffix not in SUFFIXES:
        raise UsageError(f"no format is known for {format_value(str(place))}", RULE, ADVICE.get(suffix, ""))
    return suffix == DOCUMENT and not is_plan(place)


def _require_people(place: Path) -> None:
    """Refuses a table that is a part of a problem; whatever else is wrong with a table is shown on the page.

    Raises:
        UsageError: its columns are those of edges, of datasets or of a mechanism.
    """
    try:
        columns = {one.name for one in describe_table(place).columns}
    except HetdpError:
        return
    for wanted, words in ((EDGES, "edges"), (DATASETS, "datasets, or a mechanism")):
        if wanted <= columns:
            hint = "give the folder with edges and datasets, or the problem as one .json file"
            raise UsageError(f"{format_value(place.name)} is a table of {words}", RULE, hint)

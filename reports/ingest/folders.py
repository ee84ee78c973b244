"""Result folders as they are found: which files of records each of them has, and in which form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from harness.records.folder import AGREEMENT, EVENTS, GROUPS, MANIFEST, RUNS
from harness.records.manifest import Manifest
from harness.records.run import FORMAT
from reports.errors import NoSuchFolder, NothingToReport
from reports.ingest.filesystems import Entry, FileSystem, is_uri
from reports.ingest.parquet_footer import decoded_bytes, parquet_problem

KINDS = (RUNS, EVENTS, GROUPS, AGREEMENT)
"""The kinds of records, by the name of their file of lines; an archive has the same as `runs.parquet` and so on."""
MANIFESTS = "manifests.jsonl"
"""The manifests of an archive's suites."""
REMEDY = "name a folder that `faultlab run` or `faultlab report --archive` wrote: it has a runs.jsonl or runs.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file of records. `display_name` is its name as its reader knows it; `size_bytes` is that of lines: what a
    Parquet file holds is measured in them too."""

    uri: str
    display_name: str
    size_bytes: int
    is_parquet: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One result folder: the files of each kind, and the manifests of its suites. `is_being_written`: a suite is at
    work."""

    name: str
    parts: Mapping[str, tuple[Part, ...]]
    manifests: tuple[Manifest, ...] = ()
    is_being_written: bool = False
    unreadable_parts: tuple[tuple[Part, str], ...] = ()
    """Files that are known to be unreadable, with the reason."""
    remarks: tuple[str, ...] = ()
    """A remark on its manifest, empty where there is nothing to remark."""

    @property
    def files(self) -> frozenset[str]:
        """The files of its runs: what has the same ones is the same folder."""
        return frozenset(part.uri for part in (*self.parts[RUNS], *(part for part, _ in self.unreadable_parts)))

    @property
    def size_bytes(self) -> int:
        return sum(part.size_bytes for parts in self.parts.values() for part in parts)


def find_folders(texts: Sequence[str], files: FileSystem) -> list[Folder]:
    """The folders that `texts` name, or match as patterns, each once, however many names it has. Raises
    NothingToReport."""
    found: dict[frozenset[str], Folder] = {}
    for text in texts:
        names = files.folders(text)
        if not names:
            raise NoSuchFolder(f"{text} is no folder", REMEDY)
        folders = [inspect_folder(name, files) for name in names]
        if not any(folders):
            raise NothingToReport(f"{text} has no {RUNS}", suggest_remedy(names[0], files))
        for folder in folders:
            if folder is not None:
                found.setdefault(folder.files, folder)
    if found and not any(folder.parts[RUNS] for folder in found.values()):
        part, problem = next(iter(found.values())).unreadable_parts[0]
        raise NothingToReport(f"cannot read {part.display_name}: {problem}", REMEDY)
    return list(found.values())


def suggest_remedy(name: str, files: FileSystem) -> str:
    """The folder may hold result folders instead of being one."""
    inside = [entry.name for entry in files.entries(name) if entry.is_folder]
    if any(inspect_folder(f"{name.rstrip('/')}/{one}", files) for one in inside[:20]):
        return f"it holds result folders: name them with '{name.rstrip('/')}/*'"
    return REMEDY


def inspect_folder(name: str, files: FileSystem) -> Folder | None:
    """The folder's files of records; None where it has no runs at all."""
    entries = {entry.name: entry for entry in files.entries(name)}
    parts = {kind: [*list_parts(name, kind, entries, files)] for kind in KINDS}
    if not parts[RUNS]:
        return None
    manifests, remarks = read_manifests(name, entries, files)
    lines = entries.get(RUNS)
    return Folder(
        name=name,
        parts={kind: tuple(part for part, problem in own if not problem) for kind, own in parts.items()},
        manifests=tuple(manifests),
        is_being_written=lines is not None and not lines.problem and files.is_being_written(lines.uri),
        unreadable_parts=tuple((part, problem) for own in parts.values() for part, problem in own if problem),
        remarks=tuple(remarks),
    )


def list_parts(name: str, kind: str, entries: Mapping[str, Entry], files: FileSystem) -> Iterator[tuple[Part, str]]:
    """Lines, and Parquet as one file or as a folder of part files; each with the reason why it cannot be read, if one
    is known."""
    lines, parquet = entries.get(kind), entries.get(kind.replace(".jsonl", ".parquet"))
    if lines is not None:
        yield check_part(lines, f"{name}/{kind}", files, is_parquet=False)
    if parquet is None:
        return
    if not parquet.is_folder:
        yield check_part(parquet, f"{name}/{parquet.name}", files, is_parquet=True)
        return
    for entry in files.entries(parquet.uri if is_uri(name) else f"{name}/{parquet.name}"):
        if entry.name.endswith(".parquet") and not entry.name.startswith((".", "_")):
            yield check_part(entry, f"{name}/{parquet.name}/{entry.name}", files, is_parquet=True)


def check_part(entry: Entry, display_name: str, files: FileSystem, *, is_parquet: bool) -> tuple[Part, str]:
    problem, size_bytes = "Is a directory" if entry.is_folder else entry.problem, entry.size_bytes
    if is_parquet and not problem:
        problem = parquet_problem(entry.uri, size_bytes, files)
        size_bytes = size_bytes if problem else decoded_bytes(entry.uri, size_bytes, files)
    return Part(uri=entry.uri, display_name=display_name, size_bytes=size_bytes, is_parquet=is_parquet), problem


def read_manifests(name: str, entries: Mapping[str, Entry], files: FileSystem) -> tuple[list[Manifest], list[str]]:
    """Manifests are for the reader's information: a report does without one that is missing or cannot be read."""
    found, remarks = [], []
    for file in (MANIFEST, MANIFESTS):
        if file not in entries or entries[file].is_folder:
            continue
        if entries[file].problem:
            remarks.append(f"{name}/{file} is {entries[file].problem}")
            continue
        try:
            text = files.read(entries[file].uri)
            for line in [text] if file == MANIFEST else text.splitlines():
                manifest = Manifest.model_validate_json(line)
                if manifest.format > FORMAT:
                    remarks.append(f"{name}/{file} was written by a newer faultlab: run format {manifest.format}")
                else:
                    found.append(manifest)
        except NothingToReport as error:
            remarks.append(error.text)
        except ValidationError:
            remarks.append(f"{name}/{file} is corrupt: what the suite was asked for is not known")
    return found, remarks

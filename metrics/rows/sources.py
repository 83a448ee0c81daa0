"""Opens what users name as input: files by their names and contents, a few rows at a time, folders, rows in memory."""

import codecs
import hashlib
import io
import json
import math
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO

from . import formats, tables
from .columns import Row
from .errors import FileError, RowError
from .formats import data_sets
from .formats.adapters import openai_samples
from .json_rows import json_rows, lines_of, place_of_rows

FORMATS = dict.fromkeys((".jsonl", ".ndjson", ".json"), "JSON lines")
FORMATS |= {".csv": "CSV", ".tsv": "TSV", ".parquet": "Parquet"}
# Those that are read; the others, `FORMATS`, are also written.
READABLE = {**FORMATS, ".arrow": "Arrow", ".xlsx": "Excel", ".eval": "Inspect log"}
PACKED = ("Parquet", "Arrow", "Excel", "Inspect log")  # no text, and compressed inside
COMPRESSIONS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".zst": b"\x28\xb5\x2f\xfd"}  # first bytes
CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}  # names of pyarrow
CHUNK = 2**16  # bytes that are unpacked at once
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
SAMPLE_ROWS = 20  # that show whether a column is missing everywhere
NOTICE = 40  # letters at the start of a notice that tell it from others
_DAMAGED = (OSError, EOFError, UnicodeError)


def digest(path: str | os.PathLike) -> str:
    """Return the SHA-256 of a regular file in hexadecimal."""
    check_regular(path)
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{printable(str(path))}: cannot be read: {error.strerror}") from error


def json_digest(content: object) -> str:
    """Return the SHA-256 of content as JSON, in hexadecimal; the order of keys does not matter."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_regular(path: str | os.PathLike) -> None:
    """Refuse a pipe or a device in the place of a file: reading it might never end."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileError(f"{printable(str(path))}: expected a file, got a folder, pipe or device; remove it")


def printable(path: str) -> str:
    """Return a path as text; bytes that are not UTF-8 become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class ReadOptions:
    """Options with which rows are read."""

    form: str | None = None  # a key of `formats.TOOLS`; None: detect it
    systems: Sequence[str] = ()  # columns with the answers of one system each
    encoding: str | None = None  # None: UTF-8, or UTF-16 where a file begins so
    rows_at: str = ""  # see `columns.value_at`; "" to look for them
    sheet: str = "1"  # name or number, from 1
    split: str = ""  # what stands between the references of one text

    def __post_init__(self):
        if self.form is not None and self.form not in formats.TOOLS:
            raise ValueError(f"from: expected one of {', '.join(formats.TOOLS)}, got {self.form!r}")
        try:
            "".encode(self.encoding or "utf-8")
        except LookupError:
            problem = f"encoding: expected one that Python knows, such as cp1252, got {self.encoding!r}"
            raise ValueError(problem) from None


class Source:
    """A named source of rows: a file, or rows in memory.

    The path may be an address (see `fsspec`), "-" for JSON lines on standard input, or None for rows in memory:
    mappings from columns to values. `opened` opens a file on another machine. `stem` names the system of rows without
    one, `form` is the format of a tool once a row was read, `size` the bytes of the file, None where unknown.
    """

    def __init__(
        self,
        path: str | os.PathLike | None = None,
        opened: Callable[[], BinaryIO] | None = None,
        options: ReadOptions | None = None,
        *,
        memory: Sequence[Any] = (),
        name: str = "rows",
        inputs: Sequence[str | os.PathLike] = (),
    ):
        self.path, self.memory = None if path is None else str(path), memory
        self.options = options or ReadOptions()
        self.form = self.options.form
        self.size: int | None = None
        self._notices: dict[str, str] = {}
        self._stat: tuple | None = None
        self._sheets: list[str] = []
        self._raw, self._share = None, [0.0]
        self._ahead: list[Row] = []  # rows that `first_rows` has read
        self._further: Iterator[Row] | None = None  # those behind them, of the file that is open
        self.remote = "://" in (self.path or "")
        if self.path is None:
            self.name = self.stem = name
            self.inputs = tuple(map(str, inputs)) or (name,)
            self.format, self.unit, self._opened = "memory", "row", nullcontext
            return
        self.name = "standard input" if self.path == "-" else printable(self.path)
        self.stem, self.inputs = _stem(self.name), (self.path,)
        if os.path.isdir(self.path):
            raise FileError(f"{path}: is a folder; name the files in it, such as {self.path.rstrip('/')}/*.jsonl.gz")
        self.format, _ = format_of(self.path, READABLE)
        self.unit = "row" if self.format in PACKED else "line"
        self._opened = opened or self._open
        if not self.remote and self.path != "-" and opened is None:
            try:
                status = os.stat(self.path)
            except (OSError, ValueError) as error:  # also a name that is too long, a loop of links, a zero byte
                is_missing, reason = isinstance(error, FileNotFoundError), getattr(error, "strerror", None) or error
                problem = "no such file; check the name" if is_missing else f"cannot be read: {reason}"
                raise FileError(f"{self.name:.200}: {problem}") from error
            if not stat.S_ISREG(status.st_mode):
                raise FileError(f"{self.name}: is a pipe or a device; let it write into '-', standard input")
            self.size, self._stat = status.st_size, _state_of(status)

    def _open(self) -> BinaryIO:
        if self.remote:
            return _remote_file(self.path)
        if self.path != "-":
            return open(self.path, "rb")
        try:  # a copy of the descriptor, so that closing it leaves standard input open; tests have a buffer there
            return open(os.dup(sys.stdin.fileno()), "rb")
        except (OSError, ValueError, AttributeError):
            return io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()))

    @property
    def notices(self) -> list[str]:
        """Sentences on how the rows were read, without the name of the file."""
        return list(self._notices.values())

    def note(self, message: str, subject: str | None = None) -> None:
        """Keep a notice: the first of notices that begin alike; with a subject the last notice on this subject."""
        if subject is not None or message[:NOTICE] not in self._notices:
            self._notices[subject or message[:NOTICE]] = message

    @property
    def digest(self) -> str | None:
        """SHA-256 of the file, or of rows in memory as JSON lines; None for standard input, which is read once."""
        if self.path is None:
            lines = (json.dumps(row.values, default=str).encode() + b"\n" for row in self.rows())
            return hashlib.sha256(b"".join(lines)).hexdigest()
        if self.remote:
            with self._opened() as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        sha256 = None if self.path == "-" else digest(self.path)
        self.check_unchanged()
        return sha256

    @property
    def identity(self) -> object:
        """Device and inode of a local file, equal for all its names and links; the path of an address or of "-"."""
        if self.path == "-" or self.remote:
            return self.path
        status = os.stat(self.path or self.inputs[0])
        return status.st_dev, status.st_ino

    def check_unchanged(self) -> None:
        """Refuse a file whose size, time or inode changed since this object was made; not of an address."""
        if self._stat and os.path.exists(self.path) and _state_of(os.stat(self.path)) != self._stat:
            raise FileError(f"{self.name}: has changed while it was read; wait until it is complete, and begin again")

    @property
    def position(self) -> int:
        """Number of bytes of `size` that were read so far; 0 where it is unknown."""
        if not self.size or self._raw is None:
            return 0
        if self.format in PACKED:
            return int(self._share[0] * self.size)
        return self.size if self._raw.closed else self._raw.tell()

    def first_rows(self) -> Iterator[Row]:
        """Yield rows from the start; `rows` begins with the same ones, so that the input is opened once for both."""
        self._further = self._further or self._read()
        for number in count():
            if number == len(self._ahead):
                try:
                    self._ahead.append(next(self._further))
                except StopIteration:
                    return
                except FileError:  # `rows` raises it too
                    self._ahead, self._further = [], None
                    raise
            yield self._ahead[number]

    def sample(self, number: int | None = SAMPLE_ROWS) -> Iterator[Row]:
        """Yield the first rows, fewer of a local file that cannot be read, which `rows` reports."""
        try:
            yield from islice(self.first_rows(), number)
        except FileError:
            if self.remote or self.path == "-":
                raise

    def rows(self) -> Iterator[Row]:
        """Yield every row, the bad ones too; an error names the last row that could be read."""
        ahead, further = self._ahead, self._further
        self._ahead, self._further = [], None
        yield from chain(ahead, further or self._read())

    def _read(self) -> Iterator[Row]:
        """Open the input and yield its rows."""
        number = 0
        try:
            with self._opened() as self._raw:
                for row in self._normalized(self._rows_of_file()):
                    number = row.number
                    yield row
            self.check_unchanged()
        except _DAMAGED as error:
            reason = str(error) or type(error).__name__
            where = f", after {self.unit} {number}" if number else ""
            raise FileError(f"{self.name}{where}: cannot be read (on): {reason}; is the file complete?") from error

    def _normalized(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield rows with the columns that we know; the first good one tells their form."""
        systems = self.options.systems
        for row in rows:
            if row.values is not None and self.form is None:
                self.form = "" if systems else formats.detect_tool_format(row.values)
            if row.values is not None and (self.form or systems):
                try:
                    row = Row(row.number, formats.normalized(row.values, self.form, systems))
                except RowError as error:
                    row = Row(row.number, None, str(error))
            yield row

    def _rows_in_memory(self) -> Iterator[Row]:
        for number, row in enumerate(self.memory, 1):
            if isinstance(row, Mapping):
                yield Row(number, {str(column): _plain(cell) for column, cell in row.items()})
            else:
                problem = f"expected a dict with one value per column, got {type(row).__name__} {row!r:.40}"
                yield Row(number, None, problem)

    def elsewhere(self, cells: Mapping) -> str:
        """Return advice for `cells` that are no row: which sheet or path of the file has rows; "" where none has."""
        if len(self._sheets) > 1:
            named = ", ".join(self._sheets)
            return f"the workbook has the sheets {named}: name another one with sheet='NAME' of read_rows"
        if self.path in (None, "-") or self.options.rows_at or self.format != "JSON lines":
            return ""
        path = place_of_rows(cells)
        is_document = path and len(list(islice(self._read(), 2))) == 1
        return f"rows stand at {path}: add rows_at={path!r} of read_rows" if is_document else ""

    def alone(self, cells: Mapping) -> str:
        """Return advice for a row of a file of predictions alone, or of questions and right answers alone; else ""."""
        answers, asked = data_sets.predictions_of([cells]) is not None, data_sets.questions_of([cells]) is not None
        if self.path is None or not (answers or asked):
            return ""
        holds, other = "questions and right answers", "predictions"
        if answers:
            holds, other = other, holds
            for ident in [ident for ident, response in data_sets.BATCH_OUTPUT if {ident, response} <= cells.keys()]:
                other += f", and the {ident} of each as its id,"
        return f"it holds {holds} alone: name the file with the {other} beside {self.name}"

    def _rows_of_file(self) -> Iterator[Row]:
        """Yield the rows as they are in the file, or in memory."""
        raw, name = self._raw, self.name
        if self.format == "memory":
            return self._rows_in_memory()
        if self.format == "Parquet":
            return tables.parquet_rows(raw, name, self._share)
        if self.format == "Excel":
            self._sheets.clear()
            return tables.excel_rows(raw, name, self.options.sheet, self._sheets)
        if self.format in PACKED:
            return (tables.arrow_rows if self.format == "Arrow" else tables.inspect_rows)(raw, name)
        # By the first bytes, not by the name, so that wrong endings and compressed standard input work.
        stream = decompressed(raw)
        encoding = self.options.encoding or ("utf-16" if stream.peek(2)[:2] in UTF_16 else None)  # None: UTF-8
        if self.format == "JSON lines":
            if self.options.form in (None, "openai-evals") and stream.peek(9).startswith(b'{"spec": '):
                return self._rows_of_event_log(stream)
            return json_rows(stream, encoding, self.options.rows_at, name)
        encoding = encoding or "utf-8-sig"
        delimiter = "\t" if self.format == "TSV" else tables.delimiter_of(stream.peek(2**16), encoding)
        errors = "surrogateescape" if encoding == "utf-8-sig" else "strict"  # csv_rows reports what is not UTF-8
        lines = lines_of(io.TextIOWrapper(stream, encoding, errors, newline=""))
        return tables.csv_rows(lines, name, delimiter)

    def _rows_of_event_log(self, stream: BinaryIO) -> Iterator[Row]:
        """Yield the rows of a log of OpenAI evals, in which several lines are one row."""
        self.form, self.unit = "openai-evals", "row"
        rows = openai_samples([row.values or {} for row in json_rows(stream)])
        graded = [row for row in rows if "ideal" in row]
        if not graded:
            missing = "no events of type 'match' with right answers" if rows else "no events of type 'sampling'"
            raise FileError(f"{self.name}: a log of OpenAI evals with {missing}; let the eval record them")
        if len(graded) < len(rows):
            self.note(f"{len(rows) - len(graded):,} samples without a right answer were left out")
        yield from (Row(number, row) for number, row in enumerate(graded, 1))


def files(paths: Sequence[str | os.PathLike], options: ReadOptions | None = None) -> list[Source]:
    """Return files as rows: names, addresses, or folders of `Dataset.save_to_disk`.

    For the form "squad" they are files of predictions ({id: answer}) and one with the data set.
    """
    options = options or ReadOptions()
    sources = [
        Source(options=options, memory=tables.load_dataset(path), name=Path(path).name, inputs=[path])
        if _is_dataset(path)
        else Source(path, options=options)
        for path in paths
    ]
    names: dict[object, str] = {}  # by the identity of a file
    for source in sources:
        if source.identity in names:
            same = dict.fromkeys((names[source.identity], source.name))
            raise FileError(f"input: the same file is named twice, {' and '.join(same)}; name it once")
        names[source.identity] = source.name
    _tell_apart(sources)
    return _joined(sources, options.form == "squad") or sources


def read_rows(
    paths: str | os.PathLike | Sequence[str | os.PathLike],
    *,
    tool: str | None = None,
    systems: Sequence[str] = (),
    encoding: str | None = None,
    rows_at: str = "",
    sheet: str = "1",
    split_references: str = "",
) -> list[Source]:
    """Return files as the rows of any verb: `genqa_metrics.score(read_rows("answers.csv", encoding="cp1252"))`.

    Args:
        paths: a path or a list of paths; or what `score` reads.
        tool: what wrote the files, a name of --from; None to detect it.
        systems: columns with the answers of one system each.
        encoding: of text files; None for UTF-8 or UTF-16.
        rows_at: where the rows stand in JSON, such as "runs[*].items".
        sheet: of a workbook, by name or number.
        split_references: what separates references in one text.
    """
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return files(named, ReadOptions(tool, systems, encoding, rows_at, sheet, split_references))


def sources_of(rows: Any, name: str = "rows") -> list[Source]:
    """Return sources of rows: paths, dicts, a pandas DataFrame (NaN is a missing value) or a `datasets.Dataset`.

    >>> [row.values for row in sources_of([{"id": 1.5}, {"id": float("nan")}])[0].rows()]
    [{'id': 1.5}, {'id': None}]
    """
    if isinstance(rows, str | os.PathLike):
        rows = [rows]
    if isinstance(rows, Sequence) and rows and all(isinstance(path, str | os.PathLike) for path in rows):
        rows = files(rows)
    if isinstance(rows, Sequence) and rows and all(isinstance(source, Source) for source in rows):
        return list(rows)
    if hasattr(rows, "iterrows"):  # pandas
        tables.check_header(list(rows.columns), name)
        rows = rows.astype(object).where(rows.notna(), None).to_dict("records")
    if isinstance(rows, Mapping | str | bytes) or not isinstance(rows, Iterable):
        fix = "; choose one of its splits" if hasattr(rows, "num_rows") else ""
        raise ValueError(
            f"{name}: expected a path, a list of paths or of dicts, a pandas DataFrame or a datasets.Dataset, got "
            f"{type(rows).__name__}{fix}"
        )
    return [Source(memory=rows if hasattr(rows, "__len__") else list(rows), name=name)]


def files_of_runs(paths: object) -> dict[str, list[str]] | None:
    """Return {folder: its files} of two runs, without hidden files; None unless just two folders are named."""
    if not isinstance(paths, Sequence) or len(paths) != 2:
        return None
    if any(not isinstance(path, str | os.PathLike) or not os.path.isdir(path) or _is_dataset(path) for path in paths):
        return None
    folders = [Path(path).resolve() for path in paths]
    if folders[0] == folders[1]:
        problem = f"input: the same folder is named twice, {printable(str(paths[0]))}; name an old and a new run"
        raise FileError(problem)
    endings = tuple(ending + packed for ending in READABLE for packed in ("", *COMPRESSIONS))
    result = {}
    for path, folder in zip(paths, folders, strict=True):
        inside = (file for file in folder.iterdir() if file.is_file() and not file.name.startswith(("_", ".")))
        kept = sorted(str(file) for file in inside if file.name.lower().endswith(endings))
        if not kept:
            problem = f"{printable(str(path))}: no file with rows in this folder; expected {', '.join(READABLE)}"
            raise FileError(problem)
        alike = folders[0].name == folders[1].name
        result[printable(str(path)).rstrip("/") if alike else folder.name] = kept
    return result


def _is_dataset(path: str | os.PathLike) -> bool:
    """Return whether a path is a folder of `Dataset.save_to_disk`."""
    return any(os.path.isfile(os.path.join(path, name)) for name in ("state.json", "dataset_dict.json"))


def _tell_apart(sources: Sequence[Source]) -> None:
    """Name the systems of files with equal names after their folders too, a/x and b/x, or after their endings."""
    by_stem: dict[str, list[Source]] = {}
    for source in sources:
        by_stem.setdefault(source.stem, []).append(source)
    for stem, alike in by_stem.items():
        if len(alike) > 1:
            paths = [Path(source.name).absolute() for source in alike]
            depths = range(1, max(len(path.parts) for path in paths))
            longer = (["/".join([*path.parts[:-1][-depth:], stem]) for path in paths] for depth in depths)
            different = (names for names in longer if len(set(names)) == len(names))
            for source, name in zip(alike, next(different, [path.name for path in paths]), strict=True):
                source.stem = name


def _joined(sources: Sequence[Source], demanded: bool) -> list[Source]:
    """Return a source per file of predictions, joined with the data set that it answers; [] for other sources."""
    predictions: dict[Source, dict[str, str]] = {}
    questions: dict[str, dict] = {}
    gold: list[Source] = []
    local = len(sources) > 1 and all(source.path not in (None, "-") and not source.remote for source in sources)
    for source in sources if demanded or local else ():
        rows = _all_rows(source)
        if (answered := data_sets.predictions_of(rows)) is not None:
            predictions[source] = answered
        elif (asked := data_sets.questions_of(rows)) is not None:
            gold.append(source)
            questions |= asked
        else:
            break
    if not predictions or not gold or len(predictions) + len(gold) < len(sources):
        if not demanded:
            return []
        raise FileError(
            "--from squad: expected files of predictions, {id: answer}, and the data set that they answer (with id, "
            f"question and answers), got {', '.join(source.name for source in sources)}"
        )
    result: list[Source] = []
    for source, answered in predictions.items():
        try:
            rows = data_sets.joined_rows(answered, questions)
        except ValueError as error:
            raise FileError(f"{source.name}: {error}") from error
        inputs = [path for file in (*gold, source) for path in file.inputs]
        result.append(Source(memory=rows, name=source.stem, inputs=inputs))
        if unanswered := len(questions.keys() - answered.keys()):
            result[-1].note(f"{unanswered:,} questions of the data set have no prediction; they count as not answered")
    return result


def _all_rows(source: Source) -> list[dict]:
    """Return the good rows of a source; only the first one where it shows that this source has no rows to join."""
    rows: list[dict] = []
    try:
        for row in source.first_rows():
            rows += [] if row.values is None else [row.values]
            if len(rows) == 1 and data_sets.predictions_of(rows) is None and data_sets.questions_of(rows) is None:
                break
    except FileError:
        return []  # reported when the file is read
    return rows


def _plain(cell: Any) -> Any:
    """Return a cell as JSON would hold it: arrays and tuples are lists, NaN is None."""
    cell = cell.tolist() if hasattr(cell, "tolist") else list(cell) if isinstance(cell, tuple) else cell
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _stem(name: str) -> str:
    """Return the name of a file without folders and endings, which names the system where no column does."""
    name = Path(name).name
    for ending in (*COMPRESSIONS, *READABLE):
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return name


def _remote_file(address: str) -> BinaryIO:
    """Open a file by its address, see `fsspec`."""
    import fsspec

    try:
        file = fsspec.open(address, "rb").open()
    except ImportError as error:
        raise FileError(f"{address}: {error}") from error
    except Exception as error:  # every file system has kinds of its own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileError(f"{address}: cannot be read: {reason}") from error
    return file if hasattr(file, "peek") else io.BufferedReader(file)


def decompressed(raw: BinaryIO) -> BinaryIO:
    """Return the content of a file, unpacked where its first bytes are those of a compressed one.

    pyarrow unpacks it, because unlike the module bz2 it raises on a damaged second stream.
    """
    ending = next((ending for ending, start in COMPRESSIONS.items() if raw.peek(8).startswith(start)), None)
    if ending is None:
        return raw
    import pyarrow

    return io.BufferedReader(pyarrow.CompressedInputStream(raw, CODECS[ending]), CHUNK)


def _state_of(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ino


def format_of(path: str | os.PathLike, formats: Mapping[str, str] = FORMATS) -> tuple[str, str]:
    """Return the format (a value of `formats`) and the compression ("" for none) that the name of a file asks for.

    >>> format_of("answers.csv.gz")
    ('CSV', '.gz')
    """
    if str(path) == "-":
        return "JSON lines", ""
    name = Path(path).name.lower()
    compression = next((ending for ending in COMPRESSIONS if name.endswith(ending)), "")
    ending = Path(name.removesuffix(compression)).suffix
    if ending not in formats:
        raise FileError(
            f"{path}: expected a name that ends in {', '.join(formats)} (and {', '.join(COMPRESSIONS)} where "
            f"compressed), got {ending or 'no ending'!r}; rename the file, or pipe JSON lines into '-'"
        )
    if formats[ending] in PACKED and compression:
        raise FileError(
            f"{path}: {formats[ending]} files are compressed inside; unpack it, or drop {compression} from its name"
        )
    return formats[ending], compression


def proposed_encoding(source: Source) -> str:
    """Return the encoding with which a text file can be read; "" where it is UTF-8 or UTF-16, or no local text."""
    if source.path in (None, "-") or source.remote or source.format in PACKED or source.options.encoding:
        return ""
    with source._opened() as raw:
        start = decompressed(raw).read(2**20)
    if start.startswith(UTF_16):
        return ""
    for encoding in ("utf-8", "cp1252"):
        try:
            codecs.getincrementaldecoder(encoding)().decode(start)
        except UnicodeDecodeError:
            continue
        return encoding if encoding != "utf-8" else ""
    return "latin-1"

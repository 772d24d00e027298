"""The result cache: what looking at a file gave, kept by content, and used only while nothing it depended on changed.

What is kept is a JSON value; the front end says what it means. A value is found by mindport itself (version and files), its tables, the configuration, the path and the bytes of
the file, and used when every file of the project that the analysis read, or looked for, is as it was then: the
same bytes, the same imports leading to the same files. Files that several processes or machines share are no
problem: SQLite locks, and a broken or locked cache is as good as none.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mindport import __version__
from mindport.catalog.load import cache_folder, checks_directory
from mindport.config import Config
from mindport.engine import Engine, display_path
from mindport.semantics.depends import Node, RealPaths, digest_of
from mindport.source import text as source_text

SCHEMA = 1
MAX_BYTES = 1 << 30
"""Above this size (bytes) the results that were not used for the longest time are dropped."""
_TABLES = """
CREATE TABLE IF NOT EXISTS results (key BLOB PRIMARY KEY, value BLOB, nodes BLOB, run INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS nodes (id INTEGER PRIMARY KEY AUTOINCREMENT, file TEXT, digest TEXT, root TEXT,
  lookups TEXT, UNIQUE (file, digest));
"""


class Store:
    """Results of earlier runs for one configuration; every trouble with the file means "not there"."""

    def __init__(self, file: Path, context: bytes, engine: Engine) -> None:
        self._context = context
        self._project = engine.project
        self._digests: dict[str, str | None] = {}
        self._real = RealPaths()
        self._fresh: set[int] = set()
        self._stale: set[int] = set()
        self._ids: dict[int, int] = {}  # by hash: the nodes themselves would fill the memory
        self._writable = True
        self._used: list[tuple[int, bytes]] = []
        self._db = _connect(file)
        self._run = 0
        if self._db is not None:
            self._run = int(self._db.execute("SELECT COALESCE(MAX(run), 0) + 1 FROM results").fetchone()[0])

    # --- asking ----------------------------------------------------------------------------------------

    def get(self, file: Path, data: bytes | None = None) -> Any:
        """What was kept for a file as it is now, when it still holds; None when there is nothing.

        ``data``: its bytes, where they were read already.
        """
        if self._db is None:
            return None
        try:
            key = self._key(file, source_text.read_bytes(file) if data is None else data)
            row = self._db.execute("SELECT value, nodes FROM results WHERE key = ?", (key,)).fetchone()
            if row is None or not self._holds(array("I", row[1])):
                return None
            value = json.loads(zlib.decompress(row[0]))
        except (source_text.SourceError, sqlite3.Error, ValueError, zlib.error):
            return None
        self._used.append((self._run, key))
        return value

    def _key(self, file: Path, data: bytes) -> bytes:
        parts = (
            self._context,
            display_path(file).encode(),
            self._real[str(file)].encode("utf-8", "surrogateescape"),
        )
        return blake2b(b"\0".join((*parts, digest_of(data).encode())), digest_size=20).digest()

    def _holds(self, nodes: Iterable[int]) -> bool:
        wanted = set(nodes)
        if not self._stale.isdisjoint(wanted):
            return False
        return all(self._is_fresh(node) for node in wanted - self._fresh)

    def _is_fresh(self, node: int) -> bool:
        assert self._db is not None
        row = self._db.execute(
            "SELECT file, digest, root, lookups FROM nodes WHERE id = ?", (node,)
        ).fetchone()
        fresh = row is not None and self._unchanged(Node(row[0], row[1], row[2], tuple(json.loads(row[3]))))
        (self._fresh if fresh else self._stale).add(node)
        return fresh

    def _unchanged(self, node: Node) -> bool:
        return (
            self._digest(node.file) == node.digest
            and self._project.package_root(node.file) == node.root
            and all(
                self._project.located(node.file, name, level) == found for name, level, found in node.lookups
            )
        )

    def _digest(self, file: str) -> str | None:
        if file not in self._digests:
            try:
                self._digests[file] = digest_of(source_text.read_bytes(Path(file)))
            except source_text.SourceError:
                self._digests[file] = None
        return self._digests[file]

    # --- keeping ---------------------------------------------------------------------------------------

    def put(self, file: Path, value: Any, nodes: Sequence[Node], used: Iterable[int]) -> None:
        """Keep a JSON value; ``used`` are the positions in ``nodes`` of the files it depended on."""
        if self._db is None or not self._writable:
            return
        real = self._real[str(file)]
        needed = [nodes[position] for position in used]
        own = next((node.digest for node in needed if node.file == real), "")
        try:
            data = source_text.read_bytes(file)
            if not own or digest_of(data) != own or any(not node.digest for node in needed):
                return  # something changed while it was checked
            ids = array("I", sorted(self._id(node) for node in needed))
            packed = zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 1)
            self._db.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)",
                (self._key(file, data), packed, ids.tobytes(), self._run),
            )
        except source_text.SourceError:
            return
        except sqlite3.Error:
            self._writable = False  # somebody else holds it: no use in waiting once per file

    def commit(self) -> None:
        """Write what was put since the last time; others wait only that long."""
        if self._db is None:
            return
        try:
            self._db.commit()
        except sqlite3.Error:
            self._writable = False

    def _id(self, node: Node) -> int:
        seen = hash(node)
        known = self._ids.get(seen)
        if known is None:
            known = self._ids[seen] = self._node(node)
        return known

    def _node(self, node: Node) -> int:
        """The number of a node; what is known of its imports grows, and a contradiction makes a new node."""
        assert self._db is not None
        row = self._db.execute(
            "SELECT id, root, lookups FROM nodes WHERE file = ? AND digest = ?", (node.file, node.digest)
        ).fetchone()
        lookups = {(name, level): found for name, level, found in node.lookups}
        if row is not None:
            old = {(name, level): found for name, level, found in json.loads(row[2])}
            if row[1] == node.root and all(old[key] == lookups[key] for key in old.keys() & lookups.keys()):
                if lookups.keys() - old.keys():
                    rows = _rows({**old, **lookups})
                    self._db.execute("UPDATE nodes SET lookups = ? WHERE id = ?", (rows, row[0]))
                return int(row[0])
            self._db.execute("DELETE FROM nodes WHERE id = ?", (row[0],))
        made = self._db.execute(
            "INSERT INTO nodes (file, digest, root, lookups) VALUES (?, ?, ?, ?)",
            (node.file, node.digest, node.root, _rows(lookups)),
        ).lastrowid
        return int(made or 0)

    def close(self) -> None:
        """Write what is pending, and drop the oldest results when there are too many."""
        if self._db is None:
            return
        try:
            self._db.executemany("UPDATE results SET run = ? WHERE key = ?", self._used)
            self._shrink()
            self._db.commit()
            self._db.close()
        except sqlite3.Error:
            pass
        self._db = None

    def _shrink(self) -> None:
        assert self._db is not None
        size = int(
            self._db.execute(
                "SELECT COALESCE(SUM(LENGTH(value) + LENGTH(nodes)), 0) FROM results"
            ).fetchone()[0]
        )
        run = int(self._db.execute("SELECT COALESCE(MIN(run), 0) FROM results").fetchone()[0])
        while size > MAX_BYTES and run < self._run:
            row = self._db.execute(
                "SELECT SUM(LENGTH(value) + LENGTH(nodes)) FROM results WHERE run = ?", (run,)
            )
            size -= int(row.fetchone()[0] or 0)
            self._db.execute("DELETE FROM results WHERE run = ?", (run,))
            run += 1


def _connect(file: Path) -> sqlite3.Connection | None:
    for _ in range(2):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(file, timeout=5)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = OFF")
            db.executescript(_TABLES)
            return db
        except (OSError, sqlite3.OperationalError):
            return None
        except sqlite3.DatabaseError:  # no database any more: begin a new one
            try:
                db.close()
                file.unlink()
            except OSError:
                return None
    return None


def _rows(lookups: dict[tuple[str, int], str | None]) -> str:
    return json.dumps([[name, level, found] for (name, level), found in sorted(lookups.items())])


def open_store(engine: Engine, *ways: object) -> Store | None:
    """The cache for an engine and what else decides results; None where caching is off (``--no-cache``) or no folder can be used."""
    folder = cache_folder()
    if folder is None:
        return None
    return Store(folder / "results.db", context_of(engine.config, *ways), engine)


def context_of(config: Config, *ways: object) -> bytes:
    """The digest of everything but the project that decides a result."""
    package = Path(__file__).parent
    files = [*package.rglob("*.py"), *checks_directory().rglob("*.toml")]
    stamps: list[Any] = sorted([str(f), f.stat().st_size, f.stat().st_mtime_ns] for f in files)
    parts = [SCHEMA, __version__, sys.version_info[:2], stamps, repr(config), repr(ways)]
    return blake2b(repr(parts).encode("utf-8", "surrogateescape"), digest_size=20).digest()

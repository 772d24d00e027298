"""Finding the files to check: folders are walked, files given by name are taken as they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from mindport.engine import display_path, matches_path
from mindport.findings import FileError

SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".tox",
        ".nox",
        ".venv",
        "venv",
        "__pycache__",
        "node_modules",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".eggs",
        ".ipynb_checkpoints",
    }
)


def find_files(
    paths: Iterable[str],
    exclude: Iterable[str] = (),
    root: Path | None = None,
    suffixes: tuple[str, ...] = (".py",),
) -> Iterator[Path | FileError]:
    """Python files under the paths, each once, in a stable order; a path that cannot be used is an error.

    ``suffixes``: the names of files that folders are searched for; a file given by name is always taken.
    """
    patterns = tuple(exclude)
    seen: set[Path] = set()
    for text in paths:
        path = Path(text)
        try:
            if path.is_dir():
                yield from _walk(path, patterns, root, seen, suffixes)
            elif path.exists():
                real = path.resolve()
                if real not in seen:
                    seen.add(real)
                    yield path
            elif path.is_symlink():
                yield FileError(path.as_posix(), 0, 0, "is a dangling or circular link")
            else:
                yield FileError(path.as_posix(), 0, 0, "no such file or folder")
        except (OSError, RuntimeError, ValueError) as error:
            yield FileError(text, 0, 0, f"cannot be read: {getattr(error, 'strerror', None) or error}")


def _walk(
    folder: Path,
    patterns: tuple[str, ...],
    root: Path | None,
    seen: set[Path],
    suffixes: tuple[str, ...],
) -> Iterator[Path | FileError]:
    errors: list[FileError] = []

    def failed(error: OSError) -> None:
        name = display_path(Path(error.filename)) if error.filename else folder.as_posix()
        errors.append(FileError(name, 0, 0, f"cannot be read: {error.strerror}"))

    for current, names, files in os.walk(folder, onerror=failed):  # does not follow links: no loops
        here = Path(current)
        names[:] = sorted(
            n for n in names if n not in SKIPPED_FOLDERS and not _excluded(here / n, patterns, root)
        )
        for name in sorted(files):
            file = here / name
            if not name.endswith(suffixes) or _excluded(file, patterns, root):
                continue
            if file.is_symlink() and not file.exists():
                yield FileError(display_path(file), 0, 0, "is a dangling or circular link")
                continue
            real = file.resolve()
            if real not in seen:
                seen.add(real)
                yield file
    yield from errors


def _excluded(path: Path, patterns: tuple[str, ...], root: Path | None) -> bool:
    shown = path.as_posix()
    return any(matches_path(shown, pattern, root) for pattern in patterns)

"""What a report gets to print: the results of a run and how to say things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mindport.catalog import Catalog
from mindport.engine import Result
from mindport.findings import Coverage, Effort, FileError, Finding


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one run, in the order of the files."""

    results: Sequence[Result]
    catalog: Catalog
    language: str

    @property
    def findings(self) -> list[Finding]:
        """All findings."""
        return [finding for result in self.results for finding in result.findings]

    @property
    def errors(self) -> list[FileError]:
        """All files that could not be checked."""
        return [result.error for result in self.results if result.error is not None]

    @property
    def coverage(self) -> Coverage:
        """What was seen in all files together."""
        total = Coverage()
        for result in self.results:
            total = total + result.coverage
        return total

    def effort(self) -> Effort:
        """The plain sum of the findings' minutes."""
        found = [finding.effort for finding in self.findings]
        return Effort(sum(e.low for e in found), sum(e.likely for e in found), sum(e.high for e in found))

"""Runs of the archive, and what a restore brought back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pawl_sdk._gen.pawl.v1 import archive_service_pb2 as service
from pawl_sdk.model import Run


@dataclass(frozen=True, slots=True)
class ArchivedRun:
    """A run in the archive. Lists leave out everything but the run."""

    run: Run
    """The run as in lists: without input, output and nodes."""
    lines: int
    """How many lines its file has."""
    sha256: str
    """The digest of all lines but the last."""
    counts: Mapping[str, int]
    """How many records of each kind the file has."""

    @staticmethod
    def of(archived: service.ArchivedRun) -> ArchivedRun:
        return ArchivedRun(
            run=Run.of(archived.run),
            lines=archived.lines,
            sha256=archived.sha256,
            counts={each.record: each.count for each in archived.counts},
        )


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A page of archived runs, oldest first. The token of the next page is empty on the last page."""

    archived_runs: tuple[ArchivedRun, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class RestoredRun:
    """A run that is back in the database."""

    run: Run
    restored_run_ids: tuple[str, ...]
    """The runs that this call put back: the run and its child runs, without those that the database had."""
    missing_run_ids: tuple[str, ...]
    """Child runs that neither the archive nor the database has."""

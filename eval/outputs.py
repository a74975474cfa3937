"""What a localisation benchmark leaves behind: cells, summary, tables and the report."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..core.costs import readable
from ..core.files import write_atomically
from .localisation import Cell
from .parquet import parquet
from .report import write_report
from .tables import localisation_tables
from .tasks import Task


def write_outputs(
    folder: Path,
    title: str,
    summary: Mapping[str, Any],
    cells: Sequence[Cell],
    tasks: Sequence[Task],
) -> Path:
    """Writes ``cells.parquet``, ``summary.json``, ``tables.md`` and ``report.html``, each whole or not.

    Args:
        folder: made if it is not there.
        title: of the report.
        summary: as `eval.summary.summarise` makes it, with its ``provenance``.
        cells: in a stable order.
        tasks: what was asked.

    Returns:
        The report's path.

    Raises:
        MissingExtraError: pyarrow, matplotlib or jinja2 is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "cells.parquet", parquet([_row(cell) for cell in cells]))
    write_atomically(folder / "summary.json", json.dumps(summary, indent=1, sort_keys=True) + "\n")
    write_atomically(folder / "tables.md", readable(localisation_tables(dict(summary))))
    report = folder / "report.html"
    write_report(report, title, dict(summary), cells, tasks, summary["provenance"])
    return report


def _row(cell: Cell) -> dict[str, Any]:
    """The cell with paths that a file of UTF-8 can hold."""
    return {
        name: readable(value) if isinstance(value, str) else value for name, value in asdict(cell).items()
    }

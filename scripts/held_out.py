"""Writes ``train/held_out.json``: what evaluations name, so that nothing is trained on it.

Run it by hand when an evaluation changes. DATA is the folder with ``swebench/`` and ``evidence/``, REPOS a
YAML map from ``owner/name`` to a clone of each repository::

    python -m firstpage.scripts.held_out DATA repos.yaml
"""

import json
import sys
from pathlib import Path
from typing import Any

from ..core.files import write_atomically
from ..core.git import GitStore
from ..eval.repositories import find_repositories
from ..eval.tasks import load_tasks
from ..train.guard import digest, sketch
from ..train.rows import read_rows

SETS = {"verified": "SWE-bench Verified", "lite": "SWE-bench Lite", "dev": "SWE-bench's development set"}
DOCUMENTS = {
    "loogle_shortdep_qa": "LooGLE", "loogle_longdep_qa": "LooGLE", "chunking_eval": "chunking_eval",
}  # fmt: skip
PREFIXES = {
    "loogle": "LooGLE",
    "shortdep_qa": "LooGLE",
    "longdep_qa": "LooGLE",
    "chunking_eval": "chunking_eval",
}
# Earlier owners, and forks that are at hand as snapshots.
ALIASES = {
    "django/django": ["sarahboyce/django"],
    "marshmallow-code/marshmallow": ["sloria/marshmallow"],
    "matplotlib/matplotlib": ["timhoffm/matplotlib"],
    "mwaskom/seaborn": [],
    "pallets/flask": ["mitsuhiko/flask", "pocoo/flask"],
    "psf/requests": ["kennethreitz/requests", "requests/requests"],
    "pvlib/pvlib-python": ["Sandia-Labs/PVLIB_Python"],
    "pydata/xarray": ["xray/xray"],
    "pydicom/pydicom": ["darcymason/pydicom"],
    "pylint-dev/astroid": ["PyCQA/astroid"],
    "pylint-dev/pylint": ["PyCQA/pylint"],
    "pyvista/pyvista": ["user27182/pyvista", "akaszynski/vtkInterface"],
    "scikit-learn/scikit-learn": ["cakedev0/scikit-learn"],
    "sqlfluff/sqlfluff": ["alanmcruickshank/sqlfluff"],
}


def facts(data: Path, repos: Path) -> dict[str, Any]:
    """What the file is to hold."""
    tasks = {name: load_tasks(data / "swebench" / f"{name}.jsonl.gz") for name in SETS}
    named = {name: {task.repo for task in tasks[name]} for name in SETS}
    repositories = {}
    for repo, place in sorted(find_repositories(repos, set.union(*named.values())).items()):
        with GitStore(place) as store:
            roots = store.log("--max-parents=0", "--format=%H", "--no-show-signature").split()
        repositories[repo] = {
            "evaluation": " and ".join(title for name, title in SETS.items() if repo in named[name]),
            "aliases": ALIASES.get(repo, []),
            "roots": sorted(roots),
            "base_commits": sorted(
                {t.base_commit for some in tasks.values() for t in some if t.repo == repo}
            ),
        }
    documents = {}
    for name, evaluation in DOCUMENTS.items():
        for _, row in read_rows(data / "evidence" / f"{name}.jsonl.gz"):
            documents[row["doc_id"]] = {
                "title": row["title"],
                "evaluation": evaluation,
                "sha256": digest(row["text"]),
                "sketch": sketch(row["text"]),
            }
    return {
        "development": sorted(named["dev"]),
        "repositories": repositories,
        "prefixes": PREFIXES,
        "documents": documents,
    }


def main() -> None:
    """Writes the file into the source tree."""
    data, repos = map(Path, sys.argv[1:])
    place = Path(__file__).parent.parent / "train" / "held_out.json"
    write_atomically(place, json.dumps(facts(data, repos), indent=0, separators=(",", ":")) + "\n")
    print(f"{place}: {place.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

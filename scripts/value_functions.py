"""``firstpage value-functions``: what can score items, and which package brings it."""

import inspect
import json

import click

from ..core.errors import FirstpageError
from ..readers import DEFAULT, value_functions


@click.command("value-functions")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def command(as_json: bool) -> None:
    """List what can score items."""
    rows = [
        {"name": name, "package": value_functions.origin(name), "about": _about(name)}
        for name in value_functions.names()
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        default = " (default)" if row["name"] == DEFAULT else ""
        package = "" if row["package"] == "firstpage" else f" [{row['package']}]"
        print(f"{row['name']:<{width}}  {row['about']}{default}{package}")


def _about(name: str) -> str:
    """The first sentence of its documentation; of one that cannot be made, why."""
    try:
        function = value_functions.create(name)
    except FirstpageError as error:
        return str(error)
    return (inspect.getdoc(type(function)) or "").split("\n\n")[0].replace("\n", " ")

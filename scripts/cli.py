"""The ``firstpage`` command: finds the module of the command asked for and turns errors into sentences.

A command's module is imported when it runs, so that ``firstpage --help`` and ``firstpage select`` answer
in a blink. Each module holds one ``click`` command named ``command``.
"""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from ..core.errors import FirstpageError, InputError


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called.

    Args:
        lazy: name to (module under ``firstpage.scripts``, one line of help).
    """

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order they were given."""
        return [*self._lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        command = import_module(f"firstpage.scripts.{self._lazy[cmd_name][0]}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without importing them."""
        rows = [(name, help_line) for name, (_, help_line) in self._lazy.items()]
        rows += [(name, found.short_help or "") for name, found in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(
    cls=LazyGroup,
    lazy={
        "select": ("select_page", "Fit a tool's answer on a page."),
        "candidates": ("candidates", "List the files of a commit that a query is about."),
        "value-functions": ("value_functions", "List what can score items."),
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="firstpage", message="%(prog)s %(version)s")
def cli() -> None:
    """Fits what a tool answers to an AI agent on the first page.

    Agents read the first page of a tool's answer and never ask for the second. firstpage scores the items
    of an oversized answer and fills the token budget with the best.
    """


@cli.group(
    cls=LazyGroup,
    lazy={
        "select": ("bench_select", "The first-chunk experiment of arXiv 2608.26130, to the digit."),
        "locate": ("bench_locate", "How often the file to change is among the candidates and on the page."),
        "history": ("bench_history", "Which value function suits your own repository."),
    },
    short_help="Measure value functions and candidate generators.",
)
def bench() -> None:
    """Measure value functions and candidate generators."""


def main() -> None:
    """Runs the command line; exit status 2 for bad input, 1 for a failed run, one sentence for either."""
    try:
        cli.main(prog_name="firstpage", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as shown:
        shown.show()
        sys.exit(2)
    except click.ClickException as error:
        # click's own errors take several lines; ours is one sentence, wherever it comes from.
        _fail(error.format_message(), 2)
    except InputError as error:
        _fail(str(error), 2)
    except (FirstpageError, OSError) as error:
        _fail(str(error), 1)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)


def _fail(message: str, status: int) -> None:
    print(f"firstpage: {message}", file=sys.stderr)
    sys.exit(status)

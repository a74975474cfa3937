"""The ``firstpage`` command: finds the module of the command asked for and turns errors into sentences.

A command's module is imported when it runs, so that ``firstpage --help`` and ``firstpage select`` answer
in a blink. Each module holds one ``click`` command named ``command``, or several of one kind. With
``FIRSTPAGE_TRACEBACK`` set, a failure shows where it came from.
"""

import io
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from ..core.errors import FirstpageError, InputError


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called.

    Args:
        lazy: name to (module under ``firstpage.scripts``, one line of help). Of a module with several
            commands, the one meant stands after a colon.
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
        module, _, name = self._lazy[cmd_name][0].partition(":")
        command = getattr(import_module(f"firstpage.scripts.{module}"), name or "command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments start with; of a wrong name, the nearest is suggested."""
        if args[0] in self.list_commands(ctx) or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        names = self.list_commands(ctx)
        near = get_close_matches(args[0].lower(), names, n=1)
        remedy = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}"
        raise InputError(f"there is no command '{args[0]}'; {remedy}")

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
        "serve": ("serve", "Serve reranking, embeddings and pages over HTTP."),
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
        "hybrid": ("bench_hybrid", "What the constants of hybrid are worth, and how they carry over."),
        "history": ("bench_history", "Which value function suits your own repository."),
    },
    short_help="Measure value functions and candidate generators.",
)
def bench() -> None:
    """Measure value functions and candidate generators."""


@cli.group(
    cls=LazyGroup,
    lazy={
        "history": ("mine_history", "Git histories: messages and the functions that commits change."),
        "swebench": ("mine_swebench", "Tasks in SWE-bench's format: issues and the files that mended them."),
        "evidence": ("mine_evidence", "Documents: questions and the passages that hold their evidence."),
        "negatives": ("mine_negatives", "Mined rows: documents that are hard to tell from the positives."),
    },
    short_help="Mine rows to train on.",
)
def mine() -> None:
    """Mine rows to train on."""


@cli.group(
    cls=LazyGroup,
    lazy={
        "bi-encoder": ("train:bi_encoder", "A model that embeds queries and documents apart."),
        "cross-encoder": ("train:cross_encoder", "A model that reads a query and a document together."),
        "fusion": ("train:fusion", "The trees that rank by all signals together."),
    },
    short_help="Train the models of the learned ranker.",
)
def train() -> None:
    """Train the models of the learned ranker."""


@cli.group(
    cls=LazyGroup,
    lazy={"proxy": ("mcp_proxy", "Stand in front of an MCP server.")},
    short_help="Bring first pages to the Model Context Protocol.",
)
def mcp() -> None:
    """Bring first pages to the Model Context Protocol."""


def main() -> None:
    """Runs the command line; exit status 2 for bad input, 1 for a failed run, one sentence for either."""
    _open_streams()
    try:
        cli.main(prog_name="firstpage", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as shown:
        shown.show()
        sys.exit(2)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except FirstpageError as error:
        if os.environ.get("FIRSTPAGE_TRACEBACK"):
            raise
        _fail(str(error), 2 if isinstance(error, InputError) else 1)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be written is lost
        if isinstance(error, BrokenPipeError):  # whoever reads the output, such as `head`, has enough
            sys.exit(1)
        _fail(f"{error.strerror or error}{f': {error.filename!r}' if error.filename else ''}", 1)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except Exception as error:
        if os.environ.get("FIRSTPAGE_TRACEBACK"):
            raise
        kind = type(error).__name__
        _fail(f"unforeseen, {kind}: {error}; FIRSTPAGE_TRACEBACK=1 shows where, please report it", 1)


def _open_streams() -> None:
    """Makes output UTF-8 whatever the locale, with bytes that were none as they came; none is missing."""
    sys.stdin = sys.stdin or Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def _fail(message: str, status: int) -> None:
    """Ends the run with one line on standard error, also where click or a file's name has more."""
    print(f"firstpage: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)

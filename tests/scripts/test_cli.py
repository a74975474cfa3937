"""The ``firstpage`` command itself: help, wrong commands, and what happens when its output is not wanted."""

import os
import subprocess
import sys
from importlib.metadata import version

import click
import pytest
from firstpage.scripts.cli import cli, main


def commands(group: click.Group = cli, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Every command that runs something, by the words that call it."""
    found: dict[tuple[str, ...], click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= commands(command, (*above, name))
        else:
            found[*above, name] = command
    return found


COMMANDS = commands()


def test_the_commands_are_those_that_are_documented():
    assert {
        ("select",),
        ("candidates",),
        ("value-functions",),
        ("bench", "select"),
        ("bench", "locate"),
        ("bench", "history"),
    } <= set(COMMANDS)


def test_help_lists_every_command_with_a_line_on_it(firstpage):
    for words, names in (
        ((), ["select", "candidates", "value-functions", "serve", "bench", "mine", "train", "mcp"]),
        (("bench",), [words[1] for words in COMMANDS if words[0] == "bench" and len(words) == 2]),
        (("mine",), [words[1] for words in COMMANDS if words[0] == "mine" and len(words) == 2]),
        (("train",), [words[1] for words in COMMANDS if words[0] == "train" and len(words) == 2]),
        (("mcp",), ["proxy"]),
    ):
        for option in ("--help", "-h"):
            done = firstpage(*words, option)
            assert (done.status, done.err) == (0, "")
            listed = done.out.decode().split("Commands:\n")[1]
            rows = [line.split(None, 1) for line in listed.splitlines() if line[:3].strip()]
            assert [row[0] for row in rows] == names
            assert all(len(row[1]) > 10 for row in rows)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_each_command_s_help_names_its_options_and_says_what_each_is(firstpage, words):
    done = firstpage(*words, "--help")
    text = done.out.decode()
    assert (done.status, done.err) == (0, "")
    assert text.startswith(f"Usage: firstpage {' '.join(words)} ")
    options = text.split("Options:\n")[1]
    for parameter in COMMANDS[words].params:
        if isinstance(parameter, click.Option):
            assert all(name in options for name in parameter.opts)
        else:
            assert parameter.human_readable_name in text
    assert "\n\n  " in text  # what it does, below its usage


_SERVING = {("serve",), ("mcp", "proxy")}  # which print no result


@pytest.mark.parametrize("words", [words for words in COMMANDS if words not in _SERVING], ids=" ".join)
def test_each_command_with_a_result_has_json(words):
    (option,) = (one for one in COMMANDS[words].params if one.opts == ["--json"])
    assert isinstance(option, click.Option)
    assert option.is_flag


def test_help_waits_for_nothing_that_a_command_needs():
    code = (
        "import sys; from firstpage.scripts.cli import cli\n"
        "cli.main(['bench', '--help'], standalone_mode=False)\n"
        "print(sorted({'numpy', 'difflib', 'jinja2', 'importlib.metadata'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_that_of_the_package(firstpage):
    done = firstpage("--version")
    assert (done.status, done.out.decode()) == (0, f"firstpage {version('firstpage')}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["selct"], "there is no command 'selct'; did you mean 'select'?"),
        (["Candidates"], "there is no command 'Candidates'; did you mean 'candidates'?"),
        (["value_functions"], "there is no command 'value_functions'; did you mean 'value-functions'?"),
        (["bench", "histroy"], "there is no command 'histroy'; did you mean 'history'?"),
        (["xyzzy"], "there is no command 'xyzzy'; there are select, candidates, value-functions, serve"),
        (["", "x"], "there is no command ''; there are select,"),
        (["--vresion"], "--version"),
        (["bench", "select", "--jason"], "--json"),
        (["bench", "locate"], "--tasks"),
        (["candidates", "--query"], "--query"),
    ],
)
def test_a_wrong_word_is_one_sentence_that_names_the_nearest(in_process, words, said):
    assert in_process(*words).is_refused(said)


def test_what_is_refused_in_the_process_of_a_test_is_refused_in_its_own(firstpage, in_process):
    for words in (["selct"], ["select", "-q", "x", "--bugdet", "9"], ["candidates", "-q", "x", "-g", "gerp"]):
        assert firstpage(*words) == in_process(*words)


@pytest.mark.parametrize("words", [[], ["bench"]])
def test_without_a_command_the_help_is_shown_as_an_error(firstpage, words):
    done = firstpage(*words)
    assert (done.status, done.out) == (2, b"")
    assert done.err.startswith(f"Usage: {' '.join(['firstpage', *words])} [OPTIONS] COMMAND")


LONG = b"".join(b"src/module_%d.py\n" % number for number in range(50_000))  # more than a pipe holds
UNWANTED = {
    "a short answer": (["value-functions"], b""),
    "a long answer": (["select", "-q", "x", "-b", "1000000", "-f", "fifo"], LONG),
    "help": (["--help"], b""),
}


@pytest.mark.parametrize(("words", "given"), UNWANTED.values(), ids=UNWANTED)
def test_a_reader_that_left_is_no_error_to_talk_about(console_script, words, given):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [console_script, *words], input=given, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_reader_that_has_enough_is_no_error_to_talk_about(console_script):
    with subprocess.Popen(
        [console_script, "select", "-q", "x", "-b", "1000000", "-f", "fifo"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(LONG)
        running.stdin.close()
        assert running.stdout.readline() == b"src/module_0.py\n"
        running.stdout.close()
        assert running.stderr.read() == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no disk that is always full")
@pytest.mark.parametrize(("words", "given"), UNWANTED.values(), ids=UNWANTED)
def test_a_full_disk_is_one_sentence(console_script, words, given):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [console_script, *words], input=given, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (1, b"firstpage: No space left on device\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_streams_that_are_closed_are_empty(console_script, closed):
    command = f'"{console_script}" select -q x {closed}'
    done = subprocess.run(["sh", "-c", command], input=b"a.py\nb.py\n", capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (b"0 of 0 items" in done.stdout) == (">&-" not in closed)


def test_an_unforeseen_error_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(cli, "main", lambda **_: 1 / 0)
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert said.startswith(
        "firstpage: unforeseen, ZeroDivisionError: division by zero; FIRSTPAGE_TRACEBACK=1"
    )
    assert said.count("\n") == 1


def test_a_failed_value_function_is_one_sentence_unless_its_traceback_is_asked_for(
    firstpage, plug_in, monkeypatch
):
    plug_in("fails", "raise ZeroDivisionError('here')")
    asked = ("select", "-q", "x", "-f", "fails")
    assert firstpage(*asked, given="a.py\n").is_refused("here", status=1)
    monkeypatch.setenv("FIRSTPAGE_TRACEBACK", "1")
    assert "Traceback" in firstpage(*asked, given="a.py\n").err

"""``make demo``: a real search whose answer is too long, the page made of it, and this repository measured.

Run it from the repository's root: ``python -m firstpage.scripts.demo``.
"""

import subprocess
import sys
from pathlib import Path

QUESTION = "what happens to an item that is larger than the whole budget"
WORD = "item"
BUDGET = 400
SHOWN = 12  # lines of the long answer

FIRSTPAGE = str(Path(sys.executable).parent / "firstpage")


def main() -> None:
    """Shows the page before and after, then which value function suits this repository."""
    answer = search()
    lines = answer.split("\n")
    print(f"$ grep -rn {WORD} core    ({len(lines)} lines, about {len(answer) // 4:,} tokens)\n")
    print("\n".join(line[:110] for line in lines[:SHOWN]))
    print(f"… and {len(lines) - SHOWN} more lines. An agent asked: {QUESTION}?\n")
    print(f'$ grep -rn {WORD} core | firstpage select --query "{QUESTION}" --budget {BUDGET} --root .\n')
    page = run(FIRSTPAGE, "select", "--query", QUESTION, "--budget", str(BUDGET), "--root", ".", given=answer)
    print(page)
    print("$ firstpage bench history --repo . --commits 100\n", flush=True)
    if history := why_no_history():
        print(history)
        return
    subprocess.run([FIRSTPAGE, "bench", "history", "--repo", ".", "--commits", "100"], check=True)


def search() -> str:
    """The answer of a search in this repository's ``core`` folder."""
    return run("grep", "-rn", "--include=*.py", WORD, "core")


def why_no_history() -> str:
    """Why this copy has no history to measure; empty if it has."""
    inside = subprocess.run(["git", "rev-parse", "--verify", "HEAD~1"], capture_output=True, check=False)
    return (
        ""
        if inside.returncode == 0
        else "This copy holds no git history; run it in a clone to see the report."
    )


def run(*command: str, given: str = "") -> str:
    """What a command prints."""
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()

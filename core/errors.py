"""The two ways in which firstpage says no, each a single sentence for the person who asked."""


class FirstpageError(Exception):
    """Base of all errors that firstpage raises on purpose; its text is one sentence with the remedy."""


class InputError(FirstpageError):
    """Something the caller gave cannot be used; the command line exits with status 2."""


class RunError(FirstpageError):
    """The input was fine and the work failed all the same; the command line exits with status 1."""


class MissingExtraError(RunError):
    """An optional part is asked for and not installed.

    Args:
        what: what needs it, at the start of the sentence.
        extra: the extra of this project that brings it.
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part: pip install 'firstpage[{extra}]'")
        self._arguments = (what, extra)

    def __reduce__(self) -> tuple[type["MissingExtraError"], tuple[str, str]]:
        """Lets it pass from one process to another, which its own arguments would not."""
        return type(self), self._arguments

"""How the service says no: a status, a kind in Text Embeddings Inference's words, and one sentence."""

from collections.abc import Mapping

from ..core.errors import FirstpageError


class ServiceError(FirstpageError):
    """Base of what is answered with an error.

    Args:
        message: one sentence with the remedy.
        headers: of the answer, besides.
    """

    status = 500
    kind = "backend"

    def __init__(self, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.headers = dict(headers or {})


class InvalidError(ServiceError):
    """What is asked for cannot be done, whenever it is asked."""

    status, kind = 422, "validation"


class MalformedError(ServiceError):
    """The body cannot be read at all."""

    status, kind = 400, "validation"


class UnauthorizedError(ServiceError):
    """No key, or one that is not among those of the service."""

    status, kind = 401, "unauthorized"

    def __init__(self) -> None:
        super().__init__(
            "this service asks for a key: send the header 'Authorization: Bearer KEY' with one of its keys",
            {"WWW-Authenticate": "Bearer"},
        )


class TooLargeError(ServiceError):
    """The body or what is in it is above a limit."""

    status, kind = 413, "validation"


class TooSlowError(ServiceError):
    """The client did not send its request in time."""

    status, kind = 408, "timeout"


class OverloadedError(ServiceError):
    """More waits than can be done in time.

    Args:
        seconds: after which it is worth another try.
    """

    status, kind = 429, "overloaded"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"the service is overloaded; try again in {seconds} s", {"Retry-After": str(seconds)}
        )


class ModelError(ServiceError):
    """The model raised, or gave something that is no finite number."""

    status, kind = 424, "backend"


class UnreadyError(ServiceError):
    """No model has answered yet, or the service is about to stop."""

    status, kind = 503, "unhealthy"


class ExpiredError(ServiceError):
    """The request's time was up before its result was there."""

    status, kind = 504, "timeout"

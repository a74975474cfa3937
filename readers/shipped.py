"""The weights that come with the package, and whether what reads them is installed."""

from importlib.util import find_spec
from pathlib import Path

FUSED = Path(__file__).parent / "weights"
ENCODER = FUSED / "encoder"

_EXTRA = ("safetensors", "tokenizers", "tree_sitter", "tree_sitter_language_pack")  # `learned`


def readable() -> bool:
    """Whether the extra ``learned`` is installed; none of it is imported."""
    return all(find_spec(name) for name in _EXTRA)

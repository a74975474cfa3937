"""A small static encoder, made here."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

WORDS = [
    "[UNK]",
    "cache",
    "stale",
    "entries",
    "view",
    "index",
    "store",
    "clear",
    "def",
    "class",
    "self",
    "py",
    "app",
]


@pytest.fixture
def encoder_folder(tmp_path: Path) -> Path:
    """Of an encoder that knows a few words, each in a direction of its own."""
    from safetensors.numpy import save_file

    folder = tmp_path / "encoder"
    folder.mkdir()
    tokenizer = Tokenizer(
        models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Split("_", "removed")]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.eye(len(WORDS), 16, dtype=np.float32)
    table[0] = 0.01  # what is unknown points nowhere in particular
    save_file({"embedding.weight": table}, folder / "model.safetensors")
    return folder

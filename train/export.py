"""Trained models as the weights that firstpage ships: small, and read without torch."""

import shutil
from pathlib import Path

import numpy as np

from ..core.errors import InputError, RunError
from ..readers.static_encoder import TABLE, TOKENIZER
from ..readers.vectors import quantised


def export_static(model: str | Path, out: str | Path) -> Path:
    """A static embedding that sentence-transformers saved, as `readers.static_encoder` reads it.

    Each token's vector becomes int8 with a scale of its own: a quarter of the bytes, and cosines that differ
    by less than 0.005.

    Args:
        model: folder of the model, as ``firstpage train bi-encoder`` exports it.
        out: folder to write; made if it is not there.

    Returns:
        The folder.

    Raises:
        InputError: the folder holds no static embedding.
        RunError: ``out`` cannot be written.
    """
    from safetensors.numpy import load_file, save_file

    tables = sorted(Path(model).glob(f"**/{TABLE}"))
    tensors = load_file(tables[0]) if len(tables) == 1 else {}
    if set(tensors) != {"embedding.weight"}:
        raise InputError(
            f"'{model}' holds no static embedding; train one with configs/bi_encoder_static.yaml"
        )
    table = tensors["embedding.weight"].astype(np.float32)
    numbers, scale = quantised(table)
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{TABLE}.part"
        save_file({"embedding.weight": numbers, "scale": scale}, part)
        part.replace(folder / TABLE)
        shutil.copyfile(tables[0].with_name(TOKENIZER), folder / TOKENIZER)
    except OSError as error:
        raise RunError(f"cannot write '{folder}': {error.strerror}") from error
    return folder

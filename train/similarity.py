"""Cosines between questions and documents, by a bi-encoder and a FAISS index of what it has embedded."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import InputError, MissingExtraError, RunError

# Numbers of a vector are multiples of its inverse. Their products are multiples of 2^-24, and float32 holds
# any sum of them up to 1 without rounding: in whatever order they are added, a cosine has the same bits.
_GRID = 4096


class Similarity:
    """The cosine of a question with documents; each document is embedded once.

    `sentence_transformers.util.mine_hard_negatives` looks for all questions in one set of documents. Here
    every question has its own, the files of its parent commit, most of which the next one shares: the index
    keeps all documents so far, and a search is told which of them count.

    Args:
        folder: of a sentence-transformers model.

    Raises:
        InputError: there is no such model in the folder.
        MissingExtraError: sentence-transformers or FAISS is not installed.

    Example:
        >>> nearest = Similarity("models/bi-encoder")  # doctest: +SKIP
        >>> nearest.cosines("the cache is stale", ["def reload(cache):", "def parse():"])  # doctest: +SKIP
        array([0.5213, 0.1106])
    """

    def __init__(self, folder: str | Path) -> None:
        self._faiss = _imported("faiss")
        self._model = _loaded(folder)
        self._question = lru_cache(8)(self._embedded_question)
        self.clear()

    def clear(self) -> None:
        """Forgets all documents, as one does between two repositories."""
        self._places: dict[str, int] = {}
        self._index = self._faiss.IndexFlatIP(self._model.get_embedding_dimension())

    def cosines(self, question: str, documents: Sequence[str]) -> NDArray[np.float64]:
        """How near each document is to the question.

        Returns:
            Shape ``(len(documents),)``, from -1 to 1; the same bits whatever was asked before.

        Raises:
            RunError: the model gives a vector that is not finite.
        """
        if not documents:
            return np.zeros(0)
        self._add([text for text in dict.fromkeys(documents) if text not in self._places])
        places = np.array([self._places[text] for text in documents], dtype=np.int64)
        among = np.unique(places)
        found, order = self._index.search(
            self._question(question),
            among.size,
            params=self._faiss.SearchParameters(sel=self._faiss.IDSelectorArray(among)),
        )
        cosines = np.empty(among.size)
        cosines[np.searchsorted(among, order[0])] = found[0]
        return np.asarray(cosines[np.searchsorted(among, places)])

    def _add(self, documents: Sequence[str]) -> None:
        if documents:
            self._index.add(self._embedded(self._model.encode_document, documents))
            self._places.update((text, place) for place, text in enumerate(documents, len(self._places)))

    def _embedded_question(self, question: str) -> NDArray[np.float32]:
        return self._embedded(self._model.encode_query, [question])

    def _embedded(self, encode: Callable[..., Any], texts: Sequence[str]) -> NDArray[np.float32]:
        """A row a text; one text at a time in one thread, so that its bits depend on the text alone."""
        with _one_thread():
            vectors = encode(list(texts), batch_size=1, normalize_embeddings=True, show_progress_bar=False)
        if not np.isfinite(vectors).all():
            raise RunError("the model gives a vector that is not finite; train it again or name another")
        return np.asarray(np.round(vectors * _GRID) / _GRID, dtype=np.float32)


def fingerprint(folder: str | Path) -> str:
    """A hash of all files of a model, by which a run that goes on knows that it is the same.

    Raises:
        InputError: there is no such folder.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"--model '{folder}' is no folder; name one that sentence-transformers has saved")
    told = hashlib.sha256()
    for file in sorted(path for path in place.rglob("*") if path.is_file()):
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        told.update(f"{file.relative_to(place)}\0{digest}\n".encode("utf-8", "surrogateescape"))
    return told.hexdigest()


def _loaded(folder: str | Path) -> Any:
    library = _imported("sentence_transformers")
    _imported("transformers").utils.logging.disable_progress_bar()  # on an output that nobody may watch
    try:
        return library.SentenceTransformer(str(folder), local_files_only=True)
    except Exception as error:  # of many kinds, from four libraries
        why = " ".join(str(error).split())
        raise InputError(f"--model '{folder}' is no model of sentence-transformers ({why})") from error


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("mining with a model", "train") from None


@contextmanager
def _one_thread() -> Iterator[None]:
    torch = _imported("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

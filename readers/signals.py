"""What is known of each file of a corpus for a query: the columns that the fused ranker ranks by.

Each is computed over the whole corpus, so that a name's rarity and the best value of a column are those of
the repository, and not of the few candidates. Columns that end in ``/best`` are parts of the best value.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.items import Query
from .bm25 import K1, length_in_terms, postings
from .corpus import Corpus
from .definitions import CLASS, CONSTANT, FUNCTION, METHOD
from .hybrid import WEIGHTS, path_signals, path_words, relative, weighted
from .mentions import name_weights, parts, path_finder, specificity, term_weights
from .modules import ModuleFinder
from .words import counted, words

Columns = dict[str, NDArray[np.float64]]

_CALLED = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(")
_ATTRIBUTE = re.compile(r"\.([A-Za-z_]\w{2,})")
_QUOTED = re.compile(r"`+([^`\n]+)`+")
_FRAME_OF = re.compile(r", in (\w+)$", re.MULTILINE)


def signals(query: Query, corpus: Corpus) -> Columns:
    """All columns but the neural ones.

    Returns:
        Arrays of shape ``(len(corpus.files),)``, finite, by name; in the same order for every corpus.
    """
    terms = term_weights(query)
    contents = _contents(query, corpus, terms)
    return {
        **contents,
        **_paths(query, corpus, terms, contents["content/best"]),
        **_modules(query, corpus),
        **_definitions(query, corpus),
        **_history(corpus, terms),
        **_files(corpus),
    }


def named_files(query: Query, corpus: Corpus) -> NDArray[np.float64]:
    """How surely the query means a file by its module, or by the rarest of the names that it defines.

    Returns:
        Shape ``(len(corpus.files),)``, from 0 to 2.
    """
    modules = _modules(query, corpus)
    return np.maximum(modules["dotted"], modules["imported"]) + relative(
        _definitions(query, corpus)["defines alone"]
    )


def _contents(query: Query, corpus: Corpus, terms: Mapping[str, float]) -> Columns:
    """BM25 of all terms, and of those of each part of the query, over what files hold."""
    title, prose, code = parts(query)
    found = corpus.postings(terms)
    names = {name.lower(): weight for name, weight in name_weights(query).items() if specificity(name) == 1}

    def scores(weights: Mapping[str, float], k1: float = K1) -> NDArray[np.float64]:
        return replace(found, weights=np.array([weights.get(term, 0.0) for term in terms])).scores(k1=k1)

    columns = {
        "content": found.scores(k1=WEIGHTS.k1),
        "content of title": scores(counted(title)),
        "content of prose": scores(_damped(prose)),
        "content of code": scores(_damped(code)),
        "content, present": scores(terms, 0.3),
        "content of names": scores(names),
    }
    return _with_best(columns)


def _paths(query: Query, corpus: Corpus, terms: Mapping[str, float], content: NDArray[np.float64]) -> Columns:
    """What the paths say, and what `corpus_ranking.rank` makes of that and of the contents."""
    in_title = counted(query.title)
    of_title = np.array([float(term in in_title) for term in terms])
    names = [path.rpartition("/")[2] for path in corpus.paths]
    whole = postings(terms, map(path_words, corpus.paths), length=length_in_terms)
    name = postings(terms, map(path_words, names), length=length_in_terms)
    known = path_signals(query, terms, corpus.paths)
    columns = {
        "path": whole.scores(),
        "path of title": replace(whole, weights=of_title).scores(),
        "name": name.scores(),
        "name of title": replace(name, weights=of_title).scores(),
        "hybrid": weighted({"contents": content, **known}, WEIGHTS),
    }
    return {
        **_with_best(columns),
        "named": known["named"],
        "named in title": path_finder(corpus.paths).named(query.title),
        "frames": known["frames"],
        "test": known["test"],
        "beside": known["beside"],
    }


def _modules(query: Query, corpus: Corpus) -> Columns:
    finder = ModuleFinder(corpus.paths, corpus.definers)
    return {"dotted": finder.named(query.text), "imported": finder.imported(query.text)}


def _definitions(query: Query, corpus: Corpus) -> Columns:
    """How much of what the query names a file defines: by kind, by part of the query, by rarity."""
    title, prose, code = parts(query)
    times = Counter(word for word in words(f"{title}\n{prose}\n{code}") if len(word) > 2)
    names = list(times)
    held, name = corpus.defined.holding(corpus.ids, names)
    file, kind = corpus.defined.text[held], corpus.defined.number[held]
    total = len(corpus.files)
    definers = np.bincount(name, minlength=len(names))
    idf = np.log1p((total - definers + 0.5) / (definers + 0.5))
    sharp = np.array([specificity(word) for word in names])
    weight = idf * sharp * np.log2(1 + np.array([times[word] for word in names], dtype=np.float64))
    alone = sharp / np.maximum(1, np.bincount(name[~corpus.tests[file]], minlength=len(names)))

    def among(listed: set[str]) -> NDArray[np.float64]:
        return np.array([float(word in listed) for word in names])

    def total_of(values: NDArray[np.float64], which: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        rows = slice(None) if which is None else which
        return np.bincount(file[rows], values[name[rows]], total).astype(np.float64)

    def best_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
        best = np.zeros(total)
        np.maximum.at(best, file, values[name])
        return best

    quoted = {word for text in _QUOTED.findall(query.text) for word in words(text)}
    columns = {
        "defines": total_of(weight),
        "defines alone": total_of(alone),
        "defines class": total_of(weight, kind == CLASS),
        "defines function": total_of(weight, kind == FUNCTION),
        "defines method": total_of(weight, kind == METHOD),
        "defines constant": total_of(weight, kind == CONSTANT),
        "defines of title": total_of(idf * sharp * among(set(words(title)))),
        "defines of code": total_of(weight * among(set(words(code)))),
        "defines called": total_of(weight * among(set(_CALLED.findall(code)))),
        "defines attribute": total_of(weight * among(set(_ATTRIBUTE.findall(query.text)))),
    }
    return {
        **_with_best(columns),
        "defines at most": best_of(weight),
        "defines of title alone": best_of(alone * among(set(words(title)))),
        "defines quoted": total_of(idf * sharp * among(quoted)),
        "defines frame": total_of(idf * among(set(_FRAME_OF.findall(query.text)))),
    }


def _history(corpus: Corpus, terms: Mapping[str, float]) -> Columns:
    votes, best = corpus.history.votes(terms, corpus.paths)
    times, recent, since = corpus.changes
    columns = {"votes": votes, "best vote": best, "changed of late": np.log1p(recent)}
    return {**_with_best(columns), "changes": np.log1p(times), "years since": since}


def _files(corpus: Corpus) -> Columns:
    names = np.bincount(corpus.defined.text, minlength=len(corpus.files))
    tops = Counter(path.split("/")[0] for path in corpus.paths)
    return {
        "depth": np.array([path.count("/") for path in corpus.paths], dtype=np.float64),
        "size": np.log1p(corpus.sizes.astype(np.float64)),
        "names": np.log1p(names.astype(np.float64)),
        "package": np.array([float("__init__." in path) for path in corpus.paths]),
        "is test": corpus.tests.astype(np.float64),
        "main folder": np.array([tops[path.split("/")[0]] / len(corpus.paths) for path in corpus.paths]),
    }


def _damped(text: str) -> dict[str, float]:
    return {term: float(np.log2(1 + count)) for term, count in counted(text).items()}


def _with_best(columns: Columns) -> Columns:
    """The columns, and each as a part of its best value."""
    return {**columns, **{f"{name}/best": relative(values) for name, values in columns.items()}}

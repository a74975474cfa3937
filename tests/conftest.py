"""Real parts for tests: git repositories made in a temporary folder."""

import json
import os
import random
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no fault. In CI each run tries the same examples, so that a red one can be repeated.
settings.register_profile("firstpage", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("firstpage")

Files = Mapping[str, str | bytes | None]


class Repository:
    """A git repository in a temporary folder; each commit is a day after the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._day = 0
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        who = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER")
               for field, value in (("NAME", "A Person"), ("EMAIL", "person@example.org"),
                                    ("DATE", f"2026-01-{1 + self._day % 28:02} 12:00:00 +0000"))}  # fmt: skip
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=os.environ | who | alone,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, message: str, files: Files) -> str:
        """Writes the files (None deletes one), commits them and returns the commit's name."""
        for path, content in files.items():
            place = self.folder / path
            if content is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        self._day += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture(scope="session")
def make_repository(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Repository]:
    return lambda: Repository(tmp_path_factory.mktemp("repository") / "repo")


@pytest.fixture
def repository(make_repository: Callable[[], Repository]) -> Repository:
    return make_repository()


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the person's cache."""
    monkeypatch.setenv("FIRSTPAGE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def data() -> Path:
    """The folder of outside data, named by FIRSTPAGE_DATA."""
    if not (named := os.environ.get("FIRSTPAGE_DATA")):
        pytest.skip("FIRSTPAGE_DATA is not set; it names the folder with swebench/ and reference/")
    return Path(named)


@pytest.fixture(scope="session")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small byte-level BPE tokenizer, trained here."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        ["src/module_1.py page of items shown left firstpage budget " * 20], vocab_size=400
    )
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(scope="session")
def bi_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bi-encoder of sentence-transformers to which texts are near that share words; made here."""
    pytest.importorskip("faiss")
    models = pytest.importorskip("sentence_transformers.models")
    import numpy as np
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel

    listed = [
        "[UNK]",
        "cache",
        "reload",
        "stale",
        "disk",
        "write",
        "parse",
        "token",
        "page",
        "query",
        "store",
    ]
    vocabulary = {word: number for number, word in enumerate(listed)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.random.default_rng(0).normal(size=(len(vocabulary), 32)).astype(np.float32)
    weights[0] *= 0.01  # other words count for little
    folder = tmp_path_factory.mktemp("bi-encoder")
    static = models.StaticEmbedding(tokenizer, embedding_weights=weights)
    SentenceTransformer(modules=[static], device="cpu").save(str(folder))
    return folder


SYLLABLES = [first + second for first in "bdfghjklmnprstvwxz" for second in ("a", "ei", "o", "u")]


@pytest.fixture(scope="session")
def make_bert(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A transformer of two layers and 32 units in a folder, with random weights and a small vocabulary."""
    pytest.importorskip("sentence_transformers")
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # more would wait for one another over so little

    def make(dropout: float = 0.1, dtype: str = "float32") -> Path:
        from transformers import BertConfig, BertModel, BertTokenizerFast, set_seed

        folder = tmp_path_factory.mktemp("bert")
        pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *SYLLABLES]
        tokenizer = BertTokenizerFast(vocab={piece: place for place, piece in enumerate(pieces)})
        tokenizer.save_pretrained(folder)
        set_seed(3)
        shape = BertConfig(
            vocab_size=len(pieces), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=64, max_position_embeddings=64, hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )  # fmt: skip
        BertModel(shape).to(getattr(torch, dtype)).save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def bert(make_bert: Callable[..., Path]) -> Path:
    return make_bert()


@pytest.fixture(scope="session")
def example_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Files of 48 examples to train on and of 12 to develop on; a positive shares half of its query."""
    folder = tmp_path_factory.mktemp("examples")
    draw = random.Random(0)

    def write(name: str, count: int, repo: str) -> Path:
        rows = []
        for number in range(count):
            query = draw.sample(SYLLABLES, 6)
            negatives = [" ".join(draw.sample(SYLLABLES, 6)) for _ in range(3)]
            row = {"source": "history", "id": f"{name} {number}", "repo": repo, "query": " ".join(query)}
            row |= {"positive": " ".join(query[:3] + draw.sample(SYLLABLES, 3)), "negatives": negatives}
            rows.append(json.dumps(row))
        (folder / f"{name}.jsonl").write_text("\n".join(rows))
        return folder / f"{name}.jsonl"

    return write("train", 48, "o/n"), write("dev", 12, "pydicom/pydicom")

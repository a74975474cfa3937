"""Clients that people already have, as they are, against the running service."""

import numpy as np
import pytest

QUERY = "the cache is stale after a reload"
DOCUMENTS = ["def paint(canvas): ...", "def clear_cache(self): reload stale cache", "README", "cache"]
BEST = 1


def test_cohere_v1_gets_documents_back(server):
    cohere = pytest.importorskip("cohere")
    client = cohere.Client(api_key="any", base_url=server.url)
    found = client.rerank(
        model="any", query=QUERY, documents=DOCUMENTS, top_n=2, return_documents=True
    ).results
    assert found[0].index == BEST
    assert len(found) == 2
    assert found[0].document.text == DOCUMENTS[BEST]
    assert 1 >= found[0].relevance_score >= found[1].relevance_score >= 0


def test_cohere_v1_ranks_by_fields_of_documents(server):
    cohere = pytest.importorskip("cohere")
    client = cohere.Client(api_key="any", base_url=server.url)
    documents = [{"title": "cache", "body": text} for text in DOCUMENTS]
    found = client.rerank(model="any", query=QUERY, documents=documents, rank_fields=["title", "body"])
    assert found.results[0].index == BEST


def test_cohere_v2(server):
    cohere = pytest.importorskip("cohere")
    client = cohere.ClientV2(api_key="any", base_url=server.url)
    found = client.rerank(model="any", query=QUERY, documents=DOCUMENTS)
    assert found.results[0].index == BEST
    assert sorted(one.index for one in found.results) == [0, 1, 2, 3]


def test_the_jina_reranker_of_langchain(server, monkeypatch):
    jina = pytest.importorskip("langchain_community.document_compressors.jina_rerank")
    from langchain_core.documents import Document

    monkeypatch.setattr(jina, "JINA_API_URL", f"{server.url}/v1/rerank")
    reranker = jina.JinaRerank(jina_api_key="any", top_n=2)
    found = reranker.compress_documents([Document(page_content=text) for text in DOCUMENTS], QUERY)
    assert found[0].page_content == DOCUMENTS[BEST]
    assert len(found) == 2
    assert 0 <= found[1].metadata["relevance_score"] <= found[0].metadata["relevance_score"] <= 1


def test_the_tei_reranker_of_llamaindex(server):
    tei = pytest.importorskip("llama_index.postprocessor.tei_rerank")
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    reranker = tei.TextEmbeddingInference(base_url=server.url, top_n=2)
    nodes = [NodeWithScore(node=TextNode(text=text), score=0.0) for text in DOCUMENTS]
    found = reranker.postprocess_nodes(nodes, QueryBundle(QUERY))
    assert found[0].node.get_content() == DOCUMENTS[BEST]
    assert len(found) == 2


@pytest.mark.parametrize("provider", ["jina", "cohere", "text-embeddings-inference"])
def test_rerankers(server, provider):
    rerankers = pytest.importorskip("rerankers")
    ranker = rerankers.Reranker(
        "any", model_type="APIRanker", api_provider=provider, api_key="any", url=f"{server.url}/rerank"
    )
    found = ranker.rank(query=QUERY, docs=DOCUMENTS)
    assert found.top_k(1)[0].text == DOCUMENTS[BEST]


def test_openai_embeddings_in_both_encodings(server):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key="any", base_url=f"{server.url}/v1")
    packed = client.embeddings.create(model="any", input=DOCUMENTS)
    plain = client.embeddings.create(model="any", input=DOCUMENTS, encoding_format="float")
    vectors = np.array([one.embedding for one in packed.data])
    assert vectors == pytest.approx(np.array([one.embedding for one in plain.data]), abs=1e-6)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert [one.index for one in plain.data] == [0, 1, 2, 3]
    assert plain.usage.total_tokens > 4


def test_the_parser_of_prometheus_reads_the_metrics(server):
    parser = pytest.importorskip("prometheus_client.parser")
    server.post("/rerank", {"query": QUERY, "texts": DOCUMENTS})
    families = {one.name: one for one in parser.text_string_to_metric_families(server.get("/metrics").text)}
    wanted = {"te_request_count", "te_request_success", "te_request_duration", "te_request_queue_duration"}
    wanted |= {"te_queue_size", "te_request_inference_duration", "te_batch_next_tokens"}
    assert all(families[name].samples for name in wanted)
    counted = {tuple(sample.labels.values()): sample.value for sample in families["te_request_count"].samples}
    assert counted[("/rerank",)] >= 1


def test_text_embeddings_inference_forms(server):
    ranked = server.post("/rerank", {"query": QUERY, "texts": DOCUMENTS, "return_text": True})
    assert ranked.json()[0]["text"] == DOCUMENTS[BEST]
    vectors = server.post("/embed", {"inputs": DOCUMENTS}).json()
    assert np.array(vectors).shape == (4, 256)
    assert server.post("/embed", {"inputs": "one"}).json()[0] == pytest.approx(
        server.post("/embed", {"inputs": ["one"]}).json()[0]
    )


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank", "/v2/rerank"])
def test_both_forms_are_taken_at_every_path(server, path):
    texts = server.post(path, {"query": QUERY, "texts": DOCUMENTS}).json()
    documents = server.post(path, {"query": QUERY, "documents": DOCUMENTS}).json()["results"]
    assert [(one["index"], one["score"]) for one in texts] == [
        (one["index"], one["relevance_score"]) for one in documents
    ]


def test_documents_that_are_files_are_ranked_as_files(server):
    documents = [
        {"path": "tests/test_cache.py", "text": "def test_reload(): ..."},
        {"path": "app/cache.py", "text": "class Cache:\n    def reload(self): ..."},
    ]
    found = server.post("/rerank", {"query": QUERY, "documents": documents, "return_documents": True}).json()
    assert found["results"][0]["document"] == documents[1]


def test_a_page_of_a_tool_answer(server):
    answer = "".join(f"src/part_{number}.py\n" for number in range(200)) + "src/cache.py\n"
    page = server.post("/select", {"answer": answer, "query": QUERY, "budget": 100}).json()
    assert page["form"] == "paths"
    assert page["items"][0]["path"] == "src/cache.py"
    assert page["tokens"] <= 100
    assert '"page": 2' in page["text"]
    second = server.post("/select", {"answer": answer, "query": QUERY, "budget": 100, "page": 2}).json()
    assert not {item["id"] for item in page["items"]} & {item["id"] for item in second["items"]}

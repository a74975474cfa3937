"""The service: reranking, embeddings and pages over HTTP, and the MCP proxy."""

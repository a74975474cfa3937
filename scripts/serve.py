"""``firstpage serve``: reranking, embeddings and pages over HTTP."""

from dataclasses import replace
from typing import Any

import click

from ..core.errors import MissingExtraError


@click.command("serve")
@click.option("--config", type=click.Path(), help="YAML file; configs/serve-cpu.yaml has every key.")
@click.option("--host", help="Address to listen at; 127.0.0.1 if not given.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen at; 8080 if not given.")
@click.option("--ranker", help="What scores documents: a value function, or cross-encoder@FOLDER.")
@click.option("--root", help="Folder whose files the paths in tool answers stand for, for scoring alone.")
def command(config: str | None, **given: Any) -> None:
    """Serve reranking, embeddings and pages over HTTP.

    \b
      firstpage serve
      firstpage serve --ranker cross-encoder@out/cross_encoder/model --port 9000
      firstpage serve --config configs/serve-cpu.yaml

    It answers at /rerank (Text Embeddings Inference's form, and Cohere's and Jina's, also at /v1/rerank and
    /v2/rerank), /v1/embeddings, /embed and /select; /docs tells the rest, and / is a page to try it.

    Bearer keys: the environment variable FIRSTPAGE_KEYS, with commas between them, or keys_file.
    """
    try:
        from ..serve.config import ServeConfig
        from ..serve.server import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "firstpage":
            raise
        raise MissingExtraError("the service", "serve") from None
    from ..core.settings import read_settings

    settings = read_settings(config, ServeConfig, "serve") if config else ServeConfig()
    run(replace(settings, **{key: value for key, value in given.items() if value is not None}))

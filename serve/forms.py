"""What clients send and get: the forms of Text Embeddings Inference, Cohere and Jina, OpenAI, and our own."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from .texts import carried, whole


def _integer(number: Any) -> Any:
    """A whole number also where it is written ``2.0``, which to JSON is the same."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _kind(given: Any) -> str:
    """Which of two kinds something is, so that errors tell of that kind alone."""
    return f"form of {'more' if isinstance(given, dict | list | BaseModel) else 'text'}"


Text = Annotated[str, BeforeValidator(whole)]
Texts = Annotated[
    Annotated[Text, Tag("form of text")] | Annotated[list[Text], Field(min_length=1), Tag("form of more")],
    Discriminator(_kind),
]
# The bounds stand before the validator, as the OpenAPI document would not have them otherwise.
Count = Annotated[int, Field(ge=1), BeforeValidator(_integer)]
Page = Annotated[int, Field(ge=1, le=10_000_000), BeforeValidator(_integer)]
Budget = Annotated[int, Field(ge=0, le=10_000_000), BeforeValidator(_integer)]
Query = Annotated[Text, Field(description="What is looked for.")]
Raw = Annotated[bool, Field(description="Scores as the ranker gives them: logits, or any number from 0 up.")]
Score = Annotated[float, Field(description="From 0 to 1, or as the ranker gives it with raw_scores.")]


class Form(BaseModel):
    """What is sent; unknown keys are let pass, as other services have more of them."""

    model_config = ConfigDict(strict=True)


class TeiRerank(Form):
    """``POST /rerank`` as Text Embeddings Inference has it."""

    query: Query
    texts: list[Text] = Field(min_length=1, description="Each is scored by itself.")
    raw_scores: Raw = False
    return_text: bool = Field(False, description="Give each text back with its score.")
    truncate: bool | None = Field(
        None,
        description="false refuses a text that is too long; else it is cut, as a header tells.",
    )
    truncation_direction: Literal["left", "right", "Left", "Right"] = Field(
        "right", description="The end at which what is too long is cut."
    )


class TeiRank(BaseModel):
    """One text's score."""

    index: int
    score: Score
    text: str | None = None


class DocumentObject(Form):
    """A document with more than its text."""

    model_config = ConfigDict(strict=True, extra="allow")

    text: Text | None = None
    path: Text | None = Field(None, description="Of the file that the document is, where it is one.")

    @model_validator(mode="before")
    @classmethod
    def _can_be_given_back(cls, given: Any) -> Any:
        return carried(given) if isinstance(given, dict) else given


Given = Annotated[
    Annotated[Text, Tag("form of text")] | Annotated[DocumentObject, Tag("form of more")],
    Discriminator(_kind),
]


class DocumentsRerank(Form):
    """``POST /rerank`` as Cohere and Jina have it."""

    query: Text
    documents: list[Given] = Field(min_length=1)
    model: Text | None = Field(None, description="Echoed; this service has one ranker.")
    top_n: Count | None = Field(None, description="Only so many of the best.")
    return_documents: bool | None = Field(False, description="Give each document back with its score.")
    rank_fields: list[Text] | None = Field(None, description="Which keys of document objects are read.")
    raw_scores: Raw = False


class RankedDocument(BaseModel):
    """One document's score."""

    index: int
    relevance_score: Score
    document: dict[str, Any] | None = None


class Usage(BaseModel):
    """What was read."""

    prompt_tokens: int
    total_tokens: int


class DocumentsRanked(BaseModel):
    """Documents by falling score."""

    id: str
    model: str
    results: list[RankedDocument]
    truncated: list[int] = Field(description="Indices of documents of which the model read only a part.")
    usage: Usage
    meta: dict[str, Any]


class OpenAIEmbeddings(Form):
    """``POST /v1/embeddings`` as OpenAI has it, for texts."""

    input: Texts
    model: Text | None = Field(None, description="Echoed; this service has one embedder.")
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: Count | None = Field(None, description="Must be those of the embedder.")
    user: Text | None = None


class OpenAIEmbedding(BaseModel):
    """One text's vector."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class OpenAIEmbedded(BaseModel):
    """Vectors in the order of the texts."""

    object: Literal["list"] = "list"
    model: str
    data: list[OpenAIEmbedding]
    usage: Usage


class TeiEmbed(Form):
    """``POST /embed`` as Text Embeddings Inference has it."""

    inputs: Texts
    normalize: Literal[True] = Field(True, description="Vectors here have length 1.")
    truncate: bool | None = Field(None, description="false refuses a text that is too long.")
    dimensions: Count | None = Field(None, description="Must be those of the embedder.")


class SelectRequest(Form):
    """``POST /select``: a tool's answer, of which a page is made."""

    answer: Text = Field(description="What the tool printed.")
    query: Text = Field(description="What the agent looks for.")
    budget: Budget = Field(2000, description="Tokens of a page.")
    page: Page = 1
    item: Text | None = Field(None, description="Id of one item to get whole, instead of a page.")
    form: Text = Field("auto", description="Of the answer, as `firstpage select --form`.")
    array: Text | None = Field(None, description="Where the items are in a JSON object: /data/items.")
    value_function: Text = Field("", description="What scores the items; the service's own if empty.")
    tokens: str = Field(
        "chars4",
        pattern=r"^(chars4|rows|tiktoken:[a-z0-9_]+)$",
        description="What a token is: chars4, rows or tiktoken:ENCODING.",
    )


class PageItem(BaseModel):
    """An item with what it is worth and what it costs."""

    id: str
    path: str | None
    value: float
    cost: int
    text: str | None = None


class SelectedPage(BaseModel):
    """A page of a tool's answer."""

    page: int | None
    pages: int
    tokens: int
    left: int
    items: list[PageItem]
    oversized: list[PageItem] = Field(description="Items that no page can hold, without their texts.")
    text: str
    form: str
    budget: int
    tokens_by: str
    value_function: str


class Failure(BaseModel):
    """Why a request was not answered: one sentence with the remedy."""

    error: str
    error_type: str

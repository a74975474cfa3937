"""What a trainer is told, read from YAML: one frozen class a trainer, whose docstring explains every key."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from ..core.errors import InputError
from ..core.settings import above_zero, check_ranges, least, read_settings

PACKAGE = "minilm-package"  # the base that a package brings, see `bases`

Config = TypeVar("Config", "BiEncoderConfig", "CrossEncoderConfig", "FusionConfig")


@dataclass(frozen=True, kw_only=True)
class TrainerConfig:
    """What both trainers are told.

    Args:
        train: files of examples, as ``firstpage mine negatives`` writes them.
        dev: files of examples of other repositories, that say when to stop and which checkpoint is the
            best; none if empty.
        out: folder to write, see `folder`.
        base: model to start from: a folder, a name on the Hugging Face hub, or ``minilm-package``.
        negatives: hard negatives of an example that are used; >= 0.
        max_length: tokens of a text, or of a query and a document together; the rest is cut; >= 8.
        batch_size: examples a step, over all processes; >= 1.
        accumulate: steps forward and back before the weights change; >= 1.
        epochs: how often all examples are seen, unless ``max_steps`` is given; above 0.
        max_steps: how often the weights change.
        learning_rate: at its peak; it falls to zero in a straight line.
        warmup: part of the steps in which it rises; from 0 up to, but not, 1.
        weight_decay: of AdamW; >= 0.
        precision: ``fp32``, or ``bf16`` or ``fp16`` under autocast; the weights are fp32 in any case.
        gradient_checkpointing: keep fewer activations and compute them twice.
        checkpoint_every: steps between checkpoints, of which the newest and the best stay; with ``dev`` each
            is evaluated; >= 1.
        patience: evaluations without a better one after which training stops; all steps if null.
        log_every: steps between two losses that are written down; >= 1.
        seed: of weights that are new, of the order of examples and of dropout; >= 0.

    Raises:
        InputError: a value is out of its range, or two do not go together.
    """

    train: tuple[str, ...]
    dev: tuple[str, ...] = ()
    out: str
    base: str = ""
    negatives: int = least(1, 0)
    max_length: int = least(256, 8)
    batch_size: int = least(32, 1)
    accumulate: int = least(1, 1)
    epochs: float = above_zero(1.0)
    max_steps: int | None = least(None, 1)
    learning_rate: float = above_zero(2e-5)
    warmup: float = field(default=0.1, metadata={"least": 0, "below": 1})
    weight_decay: float = least(0.01, 0)
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    gradient_checkpointing: bool = False
    checkpoint_every: int = least(100, 1)
    patience: int | None = least(None, 1)
    log_every: int = least(10, 1)
    seed: int = least(1, 0)

    def __post_init__(self) -> None:
        check_ranges(self)
        if not self.train:
            raise InputError("train: must name at least one file of examples")
        if not self.out:
            raise InputError("out: must name a folder")
        if self.patience is not None and not self.dev:
            raise InputError("patience: needs a development file; name one as dev, or take patience out")


@dataclass(frozen=True, kw_only=True)
class BiEncoderConfig(TrainerConfig):
    """What ``firstpage train bi-encoder`` is told, besides `TrainerConfig`.

    Args:
        static: instead of ``base``: a model whose outputs for each token alone are the first weights of a
            static embedding, see `static`.
        dimension: of a static embedding; >= 8.
        by_repository: whether a batch is of examples of one repository, whose documents are harder to tell
            apart, and it is among them that a ranker has to choose. Those that fill no batch share theirs.
        loss: ``contrastive``, against all documents of the batch; or ``cached``, the same for batches that
            memory would not hold at once.
        mini_batch_size: texts that are held at once with ``cached``, and in an evaluation; >= 1.
        temperature: that cosines are divided by; above 0.
        matryoshka: dimensions that the first numbers of an embedding are trained to stand for too.
    """

    static: str = ""
    dimension: int = least(256, 8)
    by_repository: bool = False
    loss: Literal["contrastive", "cached"] = "contrastive"
    mini_batch_size: int = least(32, 1)
    temperature: float = above_zero(0.05)
    matryoshka: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.base) == bool(self.static):
            raise InputError("base: name either a base or, as static, a model to make a static embedding of")
        if self.loss == "cached" and self.gradient_checkpointing:
            raise InputError(
                "gradient_checkpointing: does not go with the cached loss, which computes everything twice "
                "already; lower mini_batch_size instead"
            )
        if self.static and (self.loss == "cached" or self.gradient_checkpointing):
            key = "loss: cached" if self.loss == "cached" else "gradient_checkpointing: true"
            raise InputError(f"{key} has nothing to save with a static embedding; take it out")
        if self.batch_size < 2:
            raise InputError("batch_size: must be at least 2, as other documents of the batch are negatives")
        if any(size < 1 for size in self.matryoshka):
            raise InputError("matryoshka: dimensions must be at least 1")


@dataclass(frozen=True, kw_only=True)
class CrossEncoderConfig(TrainerConfig):
    """What ``firstpage train cross-encoder`` is told, besides `TrainerConfig`.

    Args:
        loss: ``lambda`` or ``listnet``, over the list of an example's positive and its negatives; or
            ``bce``, over single pairs, of which a step then has ``batch_size``.
        mini_batch_size: pairs that go through the model at once with a loss over lists, and in an
            evaluation; >= 1.
    """

    negatives: int = least(7, 1)
    loss: Literal["lambda", "listnet", "bce"] = "lambda"
    mini_batch_size: int = least(16, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.base:
            raise InputError("base: must name a model to start from, such as minilm-package")


@dataclass(frozen=True, kw_only=True)
class FusionConfig:
    """What ``firstpage train fusion`` is told.

    Args:
        rows: files of rows, as ``firstpage mine swebench`` and ``mine history`` write them.
        out: folder to write, see `folder`.
        encoder: folder of the bi-encoder, as `readers.static_encoder` reads it; no neural columns if empty.
        fold_encoders: bi-encoders that were trained without some repositories; the columns of those are
            worked out by them, since an encoder is surer of what it was trained on than of anything new.
        fold_repositories: of each of them, the repositories that it was trained without.
        per_repository: commits of each that are made issues; >= 0.
        newest: commits of each that these are chosen from; >= 1.
        issue_weight: of a real issue, where a commit counts 1; above 0.
        models: with seeds of their own, whose mean is the ranker; >= 1.
        trees: of a model; >= 1.
        leaves: of a tree; >= 2.
        least_in_leaf: candidates; >= 1.
        learning_rate: above 0.
        folds: of the cross-validation over repositories; >= 2.
        leave_out: columns that are not used, for ablations, by the first words of their names.
        features: folder where the columns of tasks are kept; ``OUT/features`` if empty.
        seed: of all that is chosen at random; >= 0.

    Raises:
        InputError: a value is out of its range, or a file is not there.
    """

    rows: tuple[str, ...]
    out: str
    encoder: str = ""
    fold_encoders: tuple[str, ...] = ()
    fold_repositories: tuple[tuple[str, ...], ...] = ()
    per_repository: int = least(60, 0)
    newest: int = least(5000, 1)
    issue_weight: float = above_zero(6.0)
    models: int = least(3, 1)
    trees: int = least(300, 1)
    leaves: int = least(8, 2)
    least_in_leaf: int = least(30, 1)
    learning_rate: float = above_zero(0.04)
    folds: int = least(5, 2)
    leave_out: tuple[str, ...] = ()
    features: str = ""
    seed: int = least(1, 0)

    def __post_init__(self) -> None:
        check_ranges(self)
        if len(self.fold_encoders) != len(self.fold_repositories):
            raise InputError("fold_repositories: must list the repositories of each of fold_encoders")
        if self.fold_encoders and not self.encoder:
            raise InputError(
                "fold_encoders: need an encoder for all other repositories and for the model; name it"
            )
        for path in self.rows:
            if not Path(path).is_file():
                raise InputError(f"rows: there is no file '{path}'; make it with `firstpage mine`")

    def encoder_of(self, repo: str) -> str:
        """The folder of the encoder that works out the columns of a repository."""
        for folder, without in zip(self.fold_encoders, self.fold_repositories, strict=True):
            if repo in without:
                return folder
        return self.encoder


def read_config(path: str | Path, kind: type[Config]) -> Config:
    """A configuration from a YAML file.

    Args:
        path: of the file.
        kind: `BiEncoderConfig`, `CrossEncoderConfig` or `FusionConfig`.

    Raises:
        InputError: the file cannot be read, a key is unknown or missing, a value is of the wrong type or
            out of its range, or a file of examples is not there.
        MissingExtraError: pyyaml is not installed.

    Example:
        >>> read_config("configs/bi_encoder_cpu_small.yaml", BiEncoderConfig).batch_size  # doctest: +SKIP
        32
    """
    config = read_settings(path, kind, "train")
    for key in ("train", "dev"):
        for file in getattr(config, key, ()):
            if not Path(file).is_file():
                raise InputError(
                    f"the configuration '{path}' cannot be used: {key}: there is no file '{file}'; make it "
                    "with `firstpage mine negatives`"
                )
    return config

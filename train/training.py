"""What both trainers share: the run itself, killed at any moment and gone on with to the same weights.

The order of examples depends on seed and epoch alone; a checkpoint holds weights, optimiser, schedule and the
states of all random numbers. Under ``accelerate launch`` a batch is split over the processes, so that they
train what one process would; ``--multi_gpu --num_processes 2`` starts two of them on CPUs too.
"""

import logging
import math
import time
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
import transformers
from accelerate import PartialState
from accelerate.utils import broadcast_object_list
from numpy.typing import NDArray
from sentence_transformers.base.model import BaseModel
from sentence_transformers.base.sampler import BatchSamplers, MultiDatasetBatchSamplers
from sentence_transformers.base.trainer import BaseTrainer
from sentence_transformers.base.training_args import BaseTrainingArguments
from torch import nn
from torch.utils.tensorboard import SummaryWriter
from transformers import (
    EarlyStoppingCallback,
    PrinterCallback,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from transformers.integrations.integration_utils import TensorBoardCallback

from ..core.errors import InputError, RunError
from ..core.files import write_atomically
from .card import card, sha256, versions
from .config import TrainerConfig
from .evaluation import METRIC, Reranking
from .folder import Checkpoint, TrainingFolder
from .inputs import Question, load_examples, questions

if TYPE_CHECKING:
    import datasets

Progress = Callable[[int, int], None]


class Learner(ABC):
    """What the trainers differ in.

    Args:
        config: of this training.
    """

    kind: ClassVar[str]
    trainer: ClassVar[type[BaseTrainer]]
    arguments: ClassVar[type[BaseTrainingArguments]]
    idle_weights: ClassVar[bool]  # whether the loss may leave some without a gradient, such as BERT's pooler

    def __init__(self, config: TrainerConfig) -> None:
        self.config = config

    @abstractmethod
    def model(self) -> BaseModel:
        """The model as training finds it, with fp32 weights."""

    @property
    def by_repository(self) -> bool:
        """Whether a batch is of examples of one repository."""
        return False

    @abstractmethod
    def data(self, examples: "datasets.Dataset", needed: bool = True) -> "datasets.Dataset":
        """The examples in the columns that the loss takes; if they are needed, there must be some."""

    @abstractmethod
    def loss(self, model: BaseModel) -> nn.Module:
        """What is made small."""

    @abstractmethod
    def scores(self, model: Any, asked: Sequence[Question]) -> list[NDArray[np.float32]]:
        """For each question the scores of its positives, then of its negatives."""


def run(learner: Learner, overwrite: bool = False, progress: Progress | None = None) -> dict[str, Any]:
    """Trains into the folder of the configuration, from where an earlier run stopped.

    Args:
        learner: what is trained.
        overwrite: whether an earlier training in the folder is removed.
        progress: called with (steps done, steps to do).

    Returns:
        What ``training.json`` tells; empty in all processes but the first.

    Raises:
        InputError: a file or the folder cannot be used, see `load_examples` and `TrainingFolder`.
        RunError: the loss is no number any more, or memory or the disk is full.
    """
    started = time.monotonic()
    process = _process()
    with ExitStack() as stack:
        folder = TrainingFolder(learner.config.out, _settings(learner), overwrite)
        told: list[Any] = [None]
        if process.is_main_process:
            stack.enter_context(folder)
            told = [(folder.done, folder.checkpoint())]
        done, checkpoint = broadcast_object_list(told)[0]
        if not done:
            evaluator = _fill(learner, folder, checkpoint, progress)
            if process.is_main_process:
                seconds = None if checkpoint else round(time.monotonic() - started)
                _export(learner, folder, evaluator, seconds)
        process.wait_for_everyone()
    return folder.record


def _fill(
    learner: Learner, folder: TrainingFolder, checkpoint: Checkpoint | None, progress: Progress | None
) -> Reranking | None:
    """Trains until the last checkpoint is there; what measures on the development set, if there is one."""
    config = learner.config
    counts, data = _data(learner)
    asked = questions(load_examples(config.dev, "fusion")) if config.dev else []
    quiet()
    transformers.set_seed(config.seed)  # weights that are new
    model = learner.model()
    evaluator = Reranking(asked, learner.scores) if asked else None
    if _process().is_main_process and "examples" not in folder.record:
        folder.write(
            examples=counts,
            questions=len(asked),
            before=evaluator(model) if evaluator else {},
        )
    if checkpoint and checkpoint.finished:
        return evaluator
    trainer = make_trainer(learner, model, data, folder, evaluator)
    for callback in _callbacks(config, folder, checkpoint, progress):
        trainer.add_callback(callback)
    train(trainer, checkpoint)
    return evaluator


def _data(learner: Learner) -> "tuple[dict[str, int], datasets.Dataset | datasets.DatasetDict]":
    """How many examples each file has, and all of them in the columns of the loss."""
    import datasets

    config = learner.config
    if config.batch_size % (processes := _process().num_processes):
        raise InputError(f"batch_size: must be a multiple of the {processes} processes")
    parts = [load_examples([path]) for path in config.train]
    counts = dict(zip(config.train, map(len, parts), strict=True))
    examples = datasets.concatenate_datasets(parts)
    if learner.by_repository:
        return counts, _by_repository(learner, examples)
    data = learner.data(examples)
    if why := _too_few(data, config.batch_size):
        raise InputError(why)
    return counts, data


def _by_repository(learner: Learner, examples: "datasets.Dataset") -> "datasets.DatasetDict":
    """The examples of each repository apart, of which batches are made; those of the small ones together.

    Where even these fill no batch they are left out.
    """
    import datasets

    places: dict[str, list[int]] = {}
    for place, repo in enumerate(examples["repo"]):
        places.setdefault(repo, []).append(place)
    apart, rest = datasets.DatasetDict(), list[int]()
    for repo, some in places.items():
        data = learner.data(examples.select(some), needed=False)
        if _too_few(data, learner.config.batch_size):
            rest += some
        else:
            apart[repo] = data
    others = learner.data(examples.select(rest), needed=not apart)
    why = _too_few(others, learner.config.batch_size)
    if not why:
        apart["others"] = others
    if not apart:
        raise InputError(why)
    return apart


def make_trainer(
    learner: Learner,
    model: BaseModel,
    data: "datasets.Dataset | datasets.DatasetDict",
    folder: TrainingFolder,
    evaluator: Reranking | None = None,
) -> BaseTrainer:
    """The trainer of sentence-transformers for this configuration, which shows nothing by itself."""
    trainer = learner.trainer(
        model=model,
        args=_arguments(learner, folder),
        train_dataset=data,
        loss=learner.loss(model),
        evaluator=evaluator,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def train(trainer: BaseTrainer, checkpoint: Checkpoint | None = None) -> None:
    """Trains, from the checkpoint if there is one.

    Raises:
        RunError: the memory of the device is full, or too few batches can be made of the examples.
    """
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint.path) if checkpoint else None)
    except torch.OutOfMemoryError as error:
        raise RunError(
            "the memory of the device is full; lower batch_size, mini_batch_size or max_length, or set "
            f"gradient_checkpointing: {error}"
        ) from error
    if not trainer.control.should_training_stop:
        raise RunError("too many examples share a text to fill all batches; lower batch_size")


def quiet() -> None:
    """Keeps the libraries from printing what they do; errors are ours to tell."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    warnings.simplefilter("ignore", FutureWarning)  # of one library about another


def _process() -> PartialState:
    """This process among those that ``accelerate launch`` started, or alone."""
    return PartialState(cpu=not torch.cuda.is_available())


def _arguments(learner: Learner, folder: TrainingFolder) -> BaseTrainingArguments:
    config = learner.config
    _check_device(config)
    return learner.arguments(
        output_dir=str(folder.checkpoints),
        per_device_train_batch_size=config.batch_size,
        accelerator_config={"split_batches": True},  # so that it is the batch of all processes together
        batch_sampler=BatchSamplers.NO_DUPLICATES,
        multi_dataset_batch_sampler=MultiDatasetBatchSamplers.PROPORTIONAL,
        dataloader_drop_last=True,
        dataloader_pin_memory=torch.cuda.is_available(),
        gradient_accumulation_steps=config.accumulate,
        num_train_epochs=config.epochs,
        max_steps=config.max_steps or -1,
        optim="adamw_torch",
        learning_rate=config.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=config.warmup,
        weight_decay=config.weight_decay,
        bf16=config.precision == "bf16",
        fp16=config.precision == "fp16",
        seed=config.seed,
        use_cpu=not torch.cuda.is_available(),
        ddp_find_unused_parameters=learner.idle_weights,
        save_strategy="steps",
        save_steps=config.checkpoint_every,
        save_total_limit=2,  # the newest and the best
        restore_callback_states_from_checkpoint=True,
        eval_strategy="steps" if config.dev else "no",
        eval_steps=config.checkpoint_every,
        metric_for_best_model=f"eval_{METRIC}" if config.dev else None,
        greater_is_better=True if config.dev else None,
        logging_steps=config.log_every,
        logging_nan_inf_filter=False,  # which would show an earlier loss instead
        report_to="none",  # `_callbacks` adds TensorBoard, in a folder of ours
        disable_tqdm=True,
        **_checkpointing(config),
    )


def _checkpointing(config: TrainerConfig) -> dict[str, Any]:
    """Gradient checkpointing by the name that this version of transformers has for it."""
    if not config.gradient_checkpointing:
        return {}
    known = TrainingArguments.__dataclass_fields__
    name = "activation_checkpointing" if "activation_checkpointing" in known else "gradient_checkpointing"
    return {name: True, f"{name}_kwargs": {"use_reentrant": False}}


def _callbacks(
    config: TrainerConfig, folder: TrainingFolder, checkpoint: Checkpoint | None, progress: Progress | None
) -> list[TrainerCallback]:
    callbacks: list[TrainerCallback] = []
    if config.patience:
        callbacks.append(EarlyStoppingCallback(config.patience))
    if _process().is_main_process:
        step = checkpoint.step if checkpoint else 0
        callbacks.append(TensorBoardCallback(SummaryWriter(str(folder.tensorboard), purge_step=step)))
        callbacks.append(Watch(progress))
    return callbacks


class Watch(TrainerCallback):
    """Tells how far training is, and ends it where the loss is no number any more.

    Args:
        progress: called with (steps done, steps to do).
    """

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def on_step_end(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,  # noqa: ARG002
        **_: Any,
    ) -> None:
        """Moves the progress on."""
        if self._progress:
            self._progress(state.global_step, state.max_steps)

    def on_log(
        self,
        args: TrainingArguments,  # noqa: ARG002
        state: TrainerState,
        control: TrainerControl,  # noqa: ARG002
        **told: Any,
    ) -> None:
        """Looks at the loss."""
        loss = told["logs"].get("loss", 0.0)
        if not math.isfinite(loss):
            raise RunError(f"the loss is {loss} at step {state.global_step}; lower learning_rate")


def _export(
    learner: Learner, folder: TrainingFolder, evaluator: Reranking | None, seconds: int | None
) -> None:
    """Makes the best checkpoint the model, with its card and what it is worth in fp32."""
    checkpoint = folder.checkpoint()
    if checkpoint is None or not checkpoint.best.is_dir():
        raise RunError(f"the best checkpoint of '{folder.path}' is gone; train again with --overwrite")
    kind: Any = learner.trainer.model_class
    model = kind(str(checkpoint.best))
    facts = {
        "step": int(checkpoint.best.name.rpartition("-")[2]),
        "steps": checkpoint.step,
        "seconds": seconds,
        "after": evaluator(model) if evaluator else {},
        "development": _curve(checkpoint, f"eval_{METRIC}"),
        "losses": _curve(checkpoint, "loss"),
        "versions": versions(),
    }
    part = folder.part()
    model.save_pretrained(str(part), create_model_card=False)
    write_atomically(part / "README.md", card(learner.kind, {**folder.record, **facts}))
    folder.finish(**facts)


def _curve(checkpoint: Checkpoint, name: str) -> list[list[Any]]:
    """A figure by step."""
    return [[row["step"], row[name]] for row in checkpoint.history if name in row]


def _settings(learner: Learner) -> dict[str, Any]:
    """What the weights depend on; where they are written to does not matter."""
    config = asdict(learner.config)
    del config["out"]
    files = {str(path): sha256(path) for path in (*learner.config.train, *learner.config.dev)}
    return {"trainer": learner.kind, **config, "data": files}


def _too_few(data: "datasets.Dataset", size: int) -> str:
    """Why batches cannot be filled without a text twice; empty if they can."""
    rows = len(data)
    for column in ("query", "positive"):  # in this order, so that the same one is named each time
        if column not in data.column_names:
            continue
        texts = Counter(data[column])
        # Each batch takes one of the most frequent and others; the sampler goes through all three times.
        full = 3 * (rows - max(texts.values(), default=0)) // (size - 1) if size > 1 else rows
        if len(texts) < size or full < rows // size:
            return (
                f"batch_size: {size} examples without the same {column} twice cannot be had often enough of "
                f"{rows:,} with {len(texts):,} different ones; lower it or mine more"
            )
    return ""


def _check_device(config: TrainerConfig) -> None:
    gpu = torch.cuda.is_available()
    if config.precision == "fp16" and not gpu:
        raise InputError("precision: fp16 needs a GPU; use bf16 or fp32")
    if config.precision == "bf16" and gpu and not torch.cuda.is_bf16_supported():
        raise InputError("precision: this GPU has no bf16; use fp16 or fp32")

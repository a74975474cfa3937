"""How much memory a training takes, by what stands in it: an estimate to choose batch sizes by."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .config import BiEncoderConfig, CrossEncoderConfig, TrainerConfig

if TYPE_CHECKING:
    from sentence_transformers.base.model import BaseModel

# Bytes that a layer keeps for the way back, by token and hidden unit, where attention keeps no scores (flash
# or memory-efficient): Korthikanti et al. 2022 (arXiv 2205.05198) count 34 in 16 bits. What layers of
# ModernBERT-base save with torch 2.13: 36.5 under bf16 autocast, 65 in fp32.
_KEPT_16, _KEPT_32 = 37, 65
_INPUT = 4  # bytes of a layer's input, by token and hidden unit: fp32 also under autocast


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes by what they are for; what the device's driver and gaps between tensors take is not in it.

    Args:
        weights: in fp32, and a copy in 16 bits under autocast.
        gradients: in fp32.
        optimiser: AdamW's two averages.
        activations: at most, with all texts as long as may be.
    """

    weights: int
    gradients: int
    optimiser: int
    activations: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.gradients + self.optimiser + self.activations


def training_memory(config: TrainerConfig, parameters: int, layers: int, hidden: int) -> Memory:
    """The memory of a training.

    Args:
        config: of the training.
        parameters: of the model.
        layers: of the transformer; 0 for a static embedding.
        hidden: units of a layer.

    Example:
        >>> config = BiEncoderConfig(train=("x",), out="y", base="b", batch_size=2, max_length=128)
        >>> round(training_memory(config, 22_700_000, 6, 384).total / 2**20)
        456
    """
    half = config.precision != "fp32"
    kept, at_once = _tokens(config)
    per_layer = (_KEPT_16 if half else _KEPT_32) * hidden
    if config.gradient_checkpointing:
        activations = kept * layers * hidden * _INPUT + at_once * per_layer
    else:
        activations = kept * layers * per_layer
    return Memory(parameters * (6 if half else 4), parameters * 4, parameters * 8, activations)


def memory_of(config: TrainerConfig, model: "BaseModel") -> Memory:
    """The memory of training this model."""
    shape = getattr(model.transformers_model, "config", None)
    parameters = sum(one.numel() for one in model.parameters())
    layers, hidden = getattr(shape, "num_hidden_layers", 0), getattr(shape, "hidden_size", 0)
    return training_memory(config, parameters, layers, hidden)


def _tokens(config: TrainerConfig) -> tuple[int, int]:
    """Tokens that are kept for the way back, and those that go forward at once, at most."""
    if isinstance(config, BiEncoderConfig):
        cached = config.loss == "cached"
        texts = config.mini_batch_size if cached else config.batch_size * (2 + config.negatives)
        return texts * config.max_length, texts * config.max_length
    assert isinstance(config, CrossEncoderConfig)
    if config.loss == "bce":
        return config.batch_size * config.max_length, config.batch_size * config.max_length
    kept = config.batch_size * (1 + config.negatives)
    return kept * config.max_length, min(config.mini_batch_size, kept) * config.max_length

import sys
from pathlib import Path

import pytest
import yaml
from firstpage.core.errors import InputError, MissingExtraError
from firstpage.train.config import BiEncoderConfig, CrossEncoderConfig, read_config
from firstpage.train.memory import training_memory

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*_encoder_*.yaml"))
GIB = 2**30


def kind_of(path):
    return BiEncoderConfig if path.name.startswith("bi_") else CrossEncoderConfig


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Reads a configuration of these lines, from a folder in which train.jsonl is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.jsonl").write_text("")

    def read(text, kind=BiEncoderConfig):
        (tmp_path / "config.yaml").write_text(text)
        return read_config("config.yaml", kind)

    return read


NEEDED = "train: train.jsonl\nout: out/x\nbase: minilm-package\n"


def test_keys_have_their_types_and_the_rest_its_defaults(read):
    config = read(NEEDED + "learning_rate: 2e-5\nwarmup: 0\nmatryoshka: [32, 16]\nmax_steps: 5\nloss: cached")
    assert (config.train, config.dev, config.base) == (("train.jsonl",), (), "minilm-package")
    assert (config.learning_rate, config.warmup, config.max_steps) == (2e-5, 0.0, 5)
    assert (config.matryoshka, config.loss, config.patience) == ((32, 16), "cached", None)
    assert isinstance(config.warmup, float)
    assert read(NEEDED, CrossEncoderConfig).negatives == 7


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("learning_rat: 1", "there is no key 'learning_rat'; did you mean 'learning_rate'?"),
        ("xyzzy: 1", "there is no key 'xyzzy'; there are train, dev, out"),
        ("1: 1", "there is no key '1'"),
        ("batch_size: 3.5", "batch_size: must be a whole number, not '3.5'"),
        ("batch_size: true", "batch_size: must be a whole number, not 'True'"),
        ("batch_size:", "batch_size: must be a whole number, not 'None'"),
        ("learning_rate: fast", "learning_rate: must be a number, not 'fast'"),
        ("learning_rate: true", "learning_rate: must be a number, not 'True'"),
        ("gradient_checkpointing: 1", "gradient_checkpointing: must be true or false, not '1'"),
        ("matryoshka: [1.5]", "matryoshka: must be a whole number"),
        ("dev: [1]", "dev: must be text, not '1'"),
        ("loss: softmax", "loss: there is no 'softmax'; there are contrastive, cached"),
        ("precision: fp8", "precision: there is no 'fp8'; there are fp32, bf16, fp16"),
        ("batch_size: 0", "batch_size: must be at least 1, not 0"),
        ("batch_size: 1", "batch_size: must be at least 2"),
        ("learning_rate: 0", "learning_rate: must be above 0"),
        ("learning_rate: .inf", "learning_rate: must be above 0, not inf"),
        ("warmup: 1", "warmup: must be below 1"),
        ("weight_decay: .nan", "weight_decay: must be at least 0, not nan"),
        ("max_steps: 0", "max_steps: must be at least 1"),
        ("matryoshka: [0]", "matryoshka: dimensions must be at least 1"),
        ("patience: 2", "patience: needs a development file"),
        ("static: minilm-package", "base: name either a base or, as static, a model"),
        ("dev: none.jsonl", "dev: there is no file 'none.jsonl'; make it with `firstpage mine negatives`"),
        ("loss: cached\ngradient_checkpointing: true", "gradient_checkpointing: does not go with the cached"),
    ],
)
def test_what_cannot_be_used_is_named(read, lines, said):
    with pytest.raises(InputError) as refused:
        read(NEEDED + lines)
    assert str(refused.value).startswith("the configuration 'config.yaml' cannot be used: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it must be a mapping"),
        ("- a", "it must be a mapping"),
        ("a: [", "it is no YAML"),
        ("\0", "it is no YAML"),
        ("out: x\nbase: y", "it needs the key 'train'"),
        ("out: x\ntrain: []\nbase: y", "train: must name at least one file"),
        ("train: train.jsonl\nout: ''\nbase: x", "out: must name a folder"),
        ("train: train.jsonl\nout: x", "base: name either a base or"),
        ("train: train.jsonl\nout: x\nstatic: y\nloss: cached", "loss: cached has nothing to save"),
        ("train: train.jsonl\nout: x\nstatic: y\ngradient_checkpointing: true", "has nothing to save"),
    ],
)
def test_files_that_are_no_configuration_are_named(read, text, said):
    with pytest.raises(InputError, match=said):
        read(text)


def test_a_cross_encoder_needs_a_base_and_a_negative(read):
    with pytest.raises(InputError, match="base: must name a model"):
        read("train: train.jsonl\nout: x", CrossEncoderConfig)
    with pytest.raises(InputError, match="negatives: must be at least 1"):
        read(NEEDED + "negatives: 0", CrossEncoderConfig)
    with pytest.raises(InputError, match="there is no key 'temperature'"):
        read(NEEDED + "temperature: 1", CrossEncoderConfig)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none.yaml' cannot be used: it cannot be read: No such file"):
        read_config(tmp_path / "none.yaml", BiEncoderConfig)


def test_without_the_library_the_error_says_what_to_install(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'firstpage\[train\]'"):
        read(NEEDED)


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Reads a configuration that ships, with empty files of examples."""
    monkeypatch.chdir(tmp_path)

    def read(path):
        told = yaml.safe_load(path.read_text())
        for key in {"train", "dev"} & told.keys():
            file = Path(told[key])
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        return read_config(path, kind_of(path))

    return read


def test_there_are_recipes_for_a_small_machine_and_for_a_gpu():
    assert [path.stem for path in CONFIGS] == [
        "bi_encoder_cpu_small", "bi_encoder_gpu_24gb", "bi_encoder_static", "cross_encoder_cpu_small",
        "cross_encoder_gpu_24gb",
    ]  # fmt: skip


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_each_recipe_can_be_read_and_fits_its_machine(shipped, path):
    config = shipped(path)
    assert config.out == f"out/{path.stem}"
    gpu = "gpu" in path.stem
    static = getattr(config, "static", "")
    shape = (149_000_000, 22, 768) if gpu else (7_800_000, 0, 0) if static else (22_700_000, 6, 384)
    memory = training_memory(config, *shape)
    assert memory.total < (20 if gpu else 4) * GIB
    if gpu:
        assert config.precision == "bf16"
        assert f"together {memory.total / GIB:.1f}" in " ".join(path.read_text().split())

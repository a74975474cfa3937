"""Settings that a person writes as YAML, read into a frozen class whose docstring explains every key.

Paths are relative to the working directory. ``2e-5`` is a number here, which in YAML alone it is not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, field, fields
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from .errors import InputError, MissingExtraError

Settings = TypeVar("Settings")


def least(default: Any, least: int) -> Any:
    """A field of at least so much."""
    return field(default=default, metadata={"least": least})


def above_zero(default: float) -> Any:
    """A field that is finite and above 0."""
    return field(default=default, metadata={"above": 0})


def check_ranges(settings: Any) -> None:
    """Makes sure that each value is within the range of its field.

    Raises:
        InputError: one is not.
    """
    for one in fields(settings):
        _check_range(one.name, getattr(settings, one.name), one.metadata)


def read_settings(path: str | Path, kind: type[Settings], extra: str) -> Settings:
    """Settings from a YAML file.

    Args:
        path: of the file.
        kind: a dataclass.
        extra: of this project, that brings what reads YAML.

    Raises:
        InputError: the file cannot be read, a key is unknown or missing, or a value is of the wrong type or
            out of its range.
        MissingExtraError: pyyaml is not installed.
    """
    try:
        return made_of(read_mapping(Path(path), extra), kind)
    except InputError as error:
        raise InputError(f"the configuration '{path}' cannot be used: {error}") from error


def made_of(read: Mapping[Any, Any], kind: type[Settings]) -> Settings:
    """Settings from the values of their keys.

    Raises:
        InputError: a key is unknown or missing, or a value is of the wrong type or out of its range.
    """
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    for key in read:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            remedy = f"did you mean '{near[0]}'?" if near else f"there are {_listed(known)}"
            raise InputError(f"there is no key '{key}'; {remedy}")
    for name, one in known.items():
        if name not in read and one.default is MISSING:
            raise InputError(f"it needs the key '{name}'")
    types = get_type_hints(kind)
    return kind(**{key: _value(key, value, types[key]) for key, value in read.items()})


def read_mapping(path: Path, extra: str) -> Mapping[Any, Any]:
    """What a YAML file maps.

    Raises:
        InputError: it cannot be read, is no YAML, or something else than a mapping.
        MissingExtraError: pyyaml, which the extra brings, is not installed.
    """
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("reading a configuration", extra) from None
    try:
        read = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"it is no YAML: {error}") from error
    if not isinstance(read, dict):
        raise InputError("it must be a mapping of keys to values")
    return read


def _value(key: str, value: Any, kind: Any) -> Any:
    """The value as the kind that the key takes."""
    if isinstance(kind, UnionType):
        kinds = get_args(kind)
        return None if value is None and type(None) in kinds else _value(key, value, kinds[0])
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise InputError(f"{key}: there is no '{value}'; there are {_listed(get_args(kind))}")
        return value
    if get_origin(kind) is tuple:
        listed = value if isinstance(value, list) else [value]
        return tuple(_value(key, one, get_args(kind)[0]) for one in listed)
    read = _number(value) if kind is float else value
    if type(read) is not kind:
        told = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}[kind]
        raise InputError(f"{key}: must be {told}, not '{value}'")
    return read


def _number(value: Any) -> Any:
    """A float of what YAML takes for a whole number, or for text, such as ``2e-5``."""
    if isinstance(value, bool):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _check_range(key: str, value: Any, allowed: Mapping[str, Any]) -> None:
    if value is None:
        return
    if "least" in allowed and not value >= allowed["least"]:
        raise InputError(f"{key}: must be at least {allowed['least']}, not {value}")
    if "above" in allowed and not allowed["above"] < value < float("inf"):
        raise InputError(f"{key}: must be above {allowed['above']}, not {value}")
    if "below" in allowed and not value < allowed["below"]:
        raise InputError(f"{key}: must be below {allowed['below']}, not {value}")


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names))

"""What is known of each programming language: how to parse it, and which parts of its syntax define a name.

The grammars are tree-sitter's, from ``tree_sitter_language_pack``, which name the same thing differently in
each language; the tables here are all that other modules need to know of that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from ..core.errors import MissingExtraError

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST_NAME = 80  # characters; in broken code a name may reach far

# What stands around a definition and belongs to it.
_WRAPPERS = frozenset({
    "ambient_declaration", "decorated_definition", "export_statement", "expression_statement", "declaration",
    "lexical_declaration", "template_declaration", "type_declaration", "variable_declaration",
})  # fmt: skip
# JavaScript gives most functions their names by assigning them.
_ASSIGNING = {"variable_declarator": "value", "assignment_expression": "right"}
_ASSIGNED = frozenset({"arrow_function", "class", "function_expression", "generator_function"})


@dataclass(frozen=True, slots=True)
class Language:
    """A language that can be parsed.

    Args:
        grammar: its name in ``tree_sitter_language_pack``.
        kinds: the node types of definitions, functions as well as what holds them, each with its word.
        constants: the node types that give a name to a value.
    """

    grammar: str
    kinds: Mapping[str, str]
    constants: frozenset[str]

    def definition(self, node: "Node") -> "Node | None":
        """The one definition that a node is, or is wrapped around, such as a class below its decorators."""
        if node.type in self.kinds:
            return node if self._is_definition(node) else None
        if node.type not in _WRAPPERS:
            return None
        found = [inner for child in node.named_children if (inner := self.definition(child))]
        return found[0] if len(found) == 1 else None

    def label(self, definition: "Node") -> str:
        """What a definition is called in a header, such as ``class QuerySet`` or ``func (s *Set) Add``."""
        receiver = _text(definition.child_by_field_name("receiver"))
        trait = _text(definition.child_by_field_name("trait"))
        parts = (self.kinds[definition.type], receiver, trait and f"{trait} for", name(definition))
        return " ".join(part for part in parts if part)

    def _is_definition(self, node: "Node") -> bool:
        if value_field := _ASSIGNING.get(node.type):
            value = node.child_by_field_name(value_field)
            return value is not None and value.type in _ASSIGNED
        # In C `struct S *s` names a structure that is defined elsewhere.
        return not node.type.endswith("_specifier") or node.child_by_field_name("body") is not None


def language(path: str) -> Language | None:
    """The language of a file by the ending of its name, None if it is not among those known.

    Example:
        >>> language("src/app.TSX").grammar
        'tsx'
        >>> language("README.md") is None
        True
    """
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())


def parse(language: Language, text: str) -> "Node":
    """The root of a text's syntax tree; code that does not compile has one too, with ``ERROR`` nodes in it.

    Args:
        language: of the text.
        text: anything; half a surrogate pair counts as a question mark.

    Raises:
        MissingExtraError: tree-sitter is not installed.
    """
    try:
        from tree_sitter_language_pack import get_parser
    except ImportError:
        raise MissingExtraError("Following the structure of source files", "learned") from None
    # A parser each time costs 20 µs, and none is shared between threads.
    return get_parser(cast("Any", language.grammar)).parse(text.encode("utf-8", "replace")).root_node


def name(node: "Node") -> str:
    """The name that a definition or a constant gives, empty if it gives none."""
    for field in ("name", "declarator", "left", "pattern", "type"):
        if found := node.child_by_field_name(field):
            break
    else:  # where a grammar has no field for it, the name comes before all else that looks like one
        found = next((child for child in node.named_children if child.type.endswith(_NAMES)), None)
    while found and found.type.endswith("_declarator"):  # C: the name stands inside of the way it is used
        found = found.child_by_field_name("declarator") or next(iter(found.named_children), None)
    return _text(found)


_NAMES = ("identifier", "name", "variable_declaration")


def _text(node: "Node | None") -> str:
    found = (node.text or b"").decode("utf-8", "replace") if node else ""
    return " ".join(found.split())[:_LONGEST_NAME]


def _language(grammar: str, kinds: str, constants: str = "") -> Language:
    """A language from lines of a word and the node types that it is for."""
    rows = (line.split() for line in kinds.splitlines() if line.strip())
    return Language(
        grammar, {kind: word for word, *types in rows for kind in types}, frozenset(constants.split())
    )


_SCRIPT = """
    function function_declaration generator_function_declaration variable_declarator assignment_expression
    class class_declaration abstract_class_declaration
    method method_definition
"""
_TYPED = """
    function function_signature
    method abstract_method_signature method_signature
    interface interface_declaration
    type type_alias_declaration
    enum enum_declaration
    namespace internal_module module
"""
_C = """
    function function_definition
    struct struct_specifier
    union union_specifier
    enum enum_specifier
    typedef type_definition
"""
_CONSTANTS_OF_C = "declaration preproc_def preproc_function_def"

_PYTHON = _language("python", "def function_definition \n class class_definition", "assignment")
_JAVASCRIPT = _language("javascript", _SCRIPT, "variable_declarator")
_TYPESCRIPT = _language("typescript", _SCRIPT + _TYPED, "variable_declarator")
_TSX = _language("tsx", _SCRIPT + _TYPED, "variable_declarator")
_CPP = _language(
    "cpp",
    _C + "class class_specifier \n namespace namespace_definition \n concept concept_definition"
    "\n using alias_declaration",
    _CONSTANTS_OF_C,
)
_KOTLIN = _language(
    "kotlin",
    """
    fun function_declaration
    class class_declaration
    object object_declaration companion_object
    typealias type_alias
    """,
    "property_declaration",
)
_CLASSES = """
    class class_declaration
    interface interface_declaration
    enum enum_declaration
    record record_declaration
    method method_declaration constructor_declaration
"""
_OTHERS = {
    (".go",): _language(
        "go",
        "func function_declaration method_declaration \n type type_spec",
        "const_declaration var_declaration",
    ),
    (".rs",): _language(
        "rust",
        "fn function_item \n struct struct_item \n enum enum_item \n trait trait_item \n impl impl_item"
        "\n mod mod_item \n macro macro_definition",
        "const_item static_item",
    ),
    (".java",): _language("java", _CLASSES, "field_declaration"),
    (".cs",): _language(
        "csharp",
        _CLASSES
        + "struct struct_declaration \n namespace namespace_declaration \n property property_declaration",
        "field_declaration",
    ),
    (".c", ".h"): _language("c", _C, _CONSTANTS_OF_C),
    (".rb",): _language("ruby", "def method singleton_method \n class class \n module module", "assignment"),
    (".php",): _language(
        "php",
        "function function_definition \n method method_declaration \n class class_declaration"
        "\n interface interface_declaration \n trait trait_declaration \n enum enum_declaration",
        "const_declaration",
    ),
    (".scala",): _language(
        "scala",
        "def function_definition \n class class_definition \n object object_definition"
        "\n trait trait_definition",
        "val_definition",
    ),
}
_BY_SUFFIX: Mapping[str, Language] = {
    **dict.fromkeys((".py", ".pyi", ".pyx", ".pxd"), _PYTHON),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), _JAVASCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPESCRIPT),
    ".tsx": _TSX,
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hh"), _CPP),
    **dict.fromkeys((".kt", ".kts"), _KOTLIN),
    **{suffix: known for suffixes, known in _OTHERS.items() for suffix in suffixes},
}

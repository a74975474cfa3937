"""What is known of each programming language: how to parse it, and which parts of its syntax define a name.

The grammars are tree-sitter's, from ``tree_sitter_language_pack``, which name the same thing differently in
each language; the tables here are all that other modules need to know of that.
"""

import re
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
    "ambient_declaration", "declaration", "decorated_definition", "export_statement", "expression_statement",
    "lexical_declaration", "template_declaration", "type_declaration", "variable_declaration",
})  # fmt: skip
# Some node types define something only with a part of a certain type: JavaScript names most functions by
# assigning them, and in C `struct S *s` names a structure that is defined elsewhere.
_FUNCTION_VALUES = frozenset({"arrow_function", "class", "function_expression", "generator_function"})
_ONLY_WITH = {
    "variable_declarator": ("value", _FUNCTION_VALUES),
    "assignment_expression": ("right", _FUNCTION_VALUES),
    "field_declaration": ("declarator", frozenset({"function_declarator"})),
    "struct_specifier": ("body", frozenset({"field_declaration_list"})),
    "class_specifier": ("body", frozenset({"field_declaration_list"})),
    "union_specifier": ("body", frozenset({"field_declaration_list"})),
    "enum_specifier": ("body", frozenset({"enumerator_list"})),
}
# Words of what keeps its definitions to itself, and of what holds those of others and defines none.
_FUNCTIONS = frozenset({"constructor", "def", "fn", "fun", "func", "function", "init", "macro", "method"})
_SPACES = frozenset({"impl", "mod", "namespace"})
# Where a grammar has no field for the name, it is the first part of such a type.
_NAMES = ("identifier", "name", "variable_declaration")

# Functions without a name; what may hold a definition in a single line; names as assignments list them.
_NAMELESS = re.compile("function|lambda|closure")
_STATEMENT = re.compile("declaration|definition|statement|block|body")
_CONSTANT = re.compile(r"(?:^|(?<=, ))[\w$]{3,}(?=,|$)")
_RESERVED = re.compile("__.*__")


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
        if node.type in self.kinds and node.is_named:  # in Ruby the word `class` is a node of that type too
            field, types = _ONLY_WITH.get(node.type, ("", frozenset()))
            part = node.child_by_field_name(field) if field else None
            return node if not field or (part and part.type in types) else None
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

    def body(self, definition: "Node") -> "Node | None":
        """What a definition holds, without its first line."""
        named = definition.child_by_field_name("body")
        return named or next((child for child in definition.children if child.type.endswith("_body")), None)

    def names(self, root: "Node") -> list[str]:
        """What a file defines for others, each once: definitions in their order, then its own constants.

        What functions define inside is left out, and so are names of one or two letters for constants and
        those that Python keeps for itself, such as ``__init__``.
        """
        defined: dict[str, None] = {}
        constants: dict[str, None] = {}
        waiting = [(root, True)]
        while waiting:
            node, is_outermost = waiting.pop()
            if self.definition(node) == node:
                word = self.kinds[node.type]
                if word not in _SPACES:
                    defined[name(node)] = None
                    is_outermost = is_outermost and word == "module"
                if word in _FUNCTIONS:
                    continue
            elif is_outermost and node.type in self.constants:
                constants |= dict.fromkeys(_CONSTANT.findall(name(node)))
            elif _NAMELESS.search(node.type):
                is_outermost = False
            if node.start_point.row < node.end_point.row or _STATEMENT.search(node.type):
                waiting += [(child, is_outermost) for child in reversed(node.named_children)]
        return [one for one in defined | constants if one and not _RESERVED.fullmatch(one)]


def language(path: str) -> Language | None:
    """The language of a file by the ending of its name, None if it is not among those known.

    Example:
        >>> language("src/app.TSX").grammar
        'tsx'
        >>> language("README.md") is None
        True
    """
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())


def parse(language: Language, text: str) -> "Node | None":
    """The root of a text's syntax tree; code that does not compile has one too, with ``ERROR`` nodes in it.

    Args:
        language: of the text.
        text: anything; half a surrogate pair counts as a question mark.

    Returns:
        None for what is binary, as git tells it: by a NUL.

    Raises:
        MissingExtraError: tree-sitter is not installed.
    """
    try:
        from tree_sitter_language_pack import get_parser
    except ImportError:
        raise MissingExtraError("Following the structure of source files", "learned") from None
    if "\0" in text:
        return None
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


def _text(node: "Node | None") -> str:
    found = (node.text or b"").decode("utf-8", "replace") if node else ""
    return " ".join(found.split())[:_LONGEST_NAME]


def _language(grammar: str, constants: str, kinds: str) -> Language:
    """A language from node types in words: ``kinds`` lists "what it is called, node types", by commas."""
    rows = [row.split() for row in kinds.split(",")]
    called = {kind: word for word, *types in rows for kind in types}
    return Language(grammar, called, frozenset(constants.split()))


_SCRIPT = """
    function function_declaration generator_function_declaration variable_declarator assignment_expression,
    class class_declaration abstract_class_declaration,
    method method_definition
"""
_TYPED_SCRIPT = f"""{_SCRIPT},
    function function_signature,
    method abstract_method_signature method_signature,
    interface interface_declaration,
    type type_alias_declaration,
    enum enum_declaration,
    namespace internal_module module
"""
_DECLARED_IN_C = "declaration preproc_def preproc_function_def"
_C = """
    function function_definition,
    struct struct_specifier,
    union union_specifier,
    enum enum_specifier,
    typedef type_definition
"""
_CPP = f"""{_C},
    class class_specifier,
    method field_declaration,
    namespace namespace_definition,
    concept concept_definition,
    using alias_declaration
"""

# By the endings of file names: the grammar, its constants, its definitions.
_LANGUAGES = {
    "py pyi pyx pxd": _language("python", "assignment", "def function_definition, class class_definition"),
    "js jsx mjs cjs": _language("javascript", "variable_declarator", _SCRIPT),
    "ts mts cts": _language("typescript", "variable_declarator", _TYPED_SCRIPT),
    "tsx": _language("tsx", "variable_declarator", _TYPED_SCRIPT),
    "c": _language("c", _DECLARED_IN_C, _C),
    "h cc cpp cxx hh hpp hxx": _language("cpp", _DECLARED_IN_C, _CPP),
    "go": _language(
        "go",
        "const_spec var_spec",
        "func function_declaration method_declaration, type type_spec type_alias",
    ),
    "rs": _language(
        "rust",
        "const_item static_item",
        """
        fn function_item function_signature_item, struct struct_item, enum enum_item, union union_item,
        trait trait_item, impl impl_item, mod mod_item, type type_item, macro macro_definition
        """,
    ),
    "java": _language(
        "java",
        "",
        """
        class class_declaration, interface interface_declaration annotation_type_declaration,
        enum enum_declaration, record record_declaration, method method_declaration,
        constructor constructor_declaration compact_constructor_declaration
        """,
    ),
    "cs": _language(
        "csharp",
        "",
        """
        class class_declaration, struct struct_declaration, interface interface_declaration,
        enum enum_declaration, record record_declaration, delegate delegate_declaration,
        method method_declaration, constructor constructor_declaration, property property_declaration,
        namespace namespace_declaration file_scoped_namespace_declaration
        """,
    ),
    "rb rake": _language("ruby", "assignment", "def method singleton_method, class class, module module"),
    "php": _language(
        "php",
        "const_element",
        """
        function function_definition, class class_declaration, interface interface_declaration,
        trait trait_declaration, enum enum_declaration, method method_declaration,
        namespace namespace_definition
        """,
    ),
    "kt kts": _language(
        "kotlin",
        "property_declaration",
        """
        fun function_declaration, class class_declaration, object object_declaration companion_object,
        typealias type_alias
        """,
    ),
    "scala sc": _language(
        "scala",
        "val_definition",
        """
        def function_definition function_declaration, class class_definition, object object_definition,
        trait trait_definition, enum enum_definition, type type_definition
        """,
    ),
    "swift": _language(
        "swift",
        "property_declaration",
        """
        func function_declaration protocol_function_declaration, class class_declaration,
        protocol protocol_declaration, typealias typealias_declaration, init init_declaration
        """,
    ),
}
_BY_SUFFIX = {f".{one}": language for suffixes, language in _LANGUAGES.items() for one in suffixes.split()}

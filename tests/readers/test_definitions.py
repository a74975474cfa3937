import pytest
from firstpage.readers.definitions import CLASS, CONSTANT, FUNCTION, METHOD, definitions


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("class A(B):\n    def b(self): ...\n", {"A": CLASS, "b": METHOD}),
        ("async def a(): ...", {"a": FUNCTION}),
        ("LIMIT: int = 5\nx = 1\nname == 3", {"LIMIT": CONSTANT}),
        ("func (s *Set) Add(x int) {", {"Add": FUNCTION}),
        ("export default class App {", {"App": CLASS}),
        ("pub fn run() {}\ntrait Run {}", {"run": FUNCTION, "Run": CLASS}),
        ("    def a(): ...\ndef a(): ...", {"a": FUNCTION}),
        ("class", {}),
        ("", {}),
    ],
)
def test_names_and_their_kinds(text, kinds):
    assert definitions(text) == kinds

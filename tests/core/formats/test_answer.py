from firstpage.core.formats.answer import LinesAnswer
from firstpage.core.items import Item


class Plain(LinesAnswer):
    form = "plain"


def item(name: str, *within: str, gap: str = "") -> Item:
    return Item(name, name, metadata={"within": within, "gap": gap})


def test_items_stand_once_under_what_they_have_in_common() -> None:
    answer = Plain([])
    items = [item("a", "A", "x"), item("b"), item("c", "B"), item("d", "A", "y"), item("e", "A", "x")]
    assert answer.render(items) == "A\nx\na\ne\ny\nd\nb\nB\nc\n"
    assert answer.piece(items[0]) == "A\nx\na\n"


def test_gaps_stand_between_items_alone() -> None:
    answer = Plain([], header="H\n", footer="F\n")
    items = [item("a", gap="--\n"), item("b", gap="--\n"), item("c", "A", gap="--\n")]
    assert answer.render(items) == "H\na\n--\nb\nA\nc\nF\n"


def test_a_page_ends_as_the_answer_did() -> None:
    assert Plain([], separator="\r\n", terminated=False).render([item("a"), item("b")]) == "a\r\nb"
    assert Plain([], terminated=False).render([item("a")], "[firstpage: x]") == "a\n[firstpage: x]"


def test_equal_items_are_rendered_each() -> None:
    assert Plain([]).render([item("a")] * 3) == "a\na\na\n"

"""Everything that scores, locates or generates candidates.

Example:
    >>> from firstpage.core.items import Item, Query
    >>> from firstpage.readers import value_functions
    >>> function = value_functions.create("priority_kw")
    >>> items = [Item("1", "docs/index.md"), Item("2", "src/cache.py")]
    >>> function.values(Query("the cache is stale"), items).round(3).tolist()
    [0.0, 0.408]
"""

from typing import TYPE_CHECKING

from ..core.registry import Registry
from .shipped import readable

if TYPE_CHECKING:
    from ..core.values import ValueFunction

# The default of every command: the learned ranker, where what reads its weights is installed.
DEFAULT = "fused" if readable() else "hybrid"

value_functions: "Registry[ValueFunction]" = Registry(
    "firstpage.value_functions",
    "value function",
    {
        "fifo": "firstpage.readers.order:Fifo",
        "random": "firstpage.readers.order:Random",
        "reversed": "firstpage.readers.order:Reversed",
        "priority_kw": "firstpage.readers.keyword:PriorityKw",
        "priority_kw_plus": "firstpage.readers.keyword:PriorityKwPlus",
        "priority_all": "firstpage.readers.keyword:PriorityAll",
        "bm25": "firstpage.readers.bm25:BM25",
        "hybrid": "firstpage.readers.hybrid:Hybrid",
        "bi-encoder": "firstpage.readers.bi_encoder:BiEncoder",
        "fused": "firstpage.readers.fused:Fused",
    },
    trained={
        "bi-encoder": "firstpage.readers.bi_encoder:BiEncoder",
        "cross-encoder": "firstpage.readers.cross_encoder:CrossEncoder",
        "fused": "firstpage.readers.fused:Fused",
    },
    unlisted=() if readable() else ("bi-encoder", "fused"),
)

__all__ = ["DEFAULT", "value_functions"]

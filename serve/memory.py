"""Memory that a batch took goes back to the system when the batch is done."""

import ctypes
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
_LARGE = 1 << 20  # bytes


def return_memory() -> None:
    """Keeps glibc from growing its heap with every large batch.

    It raises the size from which a block is given back at once to that of the largest that was freed, up to
    32 MiB. From then on batches of other shapes leave holes in the heap: a soak of ten minutes grew by 100
    MiB, and is flat with the size kept as it is. Other C libraries are left alone.
    """
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(_MMAP_THRESHOLD, _LARGE)
        library.mallopt(_TRIM_THRESHOLD, _LARGE)

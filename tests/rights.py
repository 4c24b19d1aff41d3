"""Make file permissions apply to root as well."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def rights_that_files_give() -> Iterator[None]:
    """Drop root's right to open every file for a while."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)  # the third version of the call, this thread
    rights = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    assert libc.capget(head, rights) == 0
    before = rights[0]
    rights[0] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(head, rights) == 0
    try:
        yield
    finally:
        rights[0] = before
        assert libc.capset(head, rights) == 0

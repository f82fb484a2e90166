"""The arrays of a file of numpy's, without reading them: they lie where the system keeps files."""

from __future__ import annotations

import io
import mmap
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

LARGE = 100_000
"""Bytes from which an array stays in the file."""
_HEADER = 30
"""Bytes of what stands before the name of a file in an archive; how long that and what follows is, stands at NAMED."""
_NAMED = 26


def arrays_in(path: Path) -> tuple[mmap.mmap, dict[str, NDArray[Any]]]:
    """The file, and its arrays by name; the large ones lie in it and cannot be written to.

    ValueError where it is not what ``numpy.savez`` writes, OSError where it cannot be read.
    """
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        with zipfile.ZipFile(path) as archive:
            every = archive.infolist()
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} holds no arrays") from error
    if any(one.compress_type != zipfile.ZIP_STORED for one in every):
        raise ValueError(f"{path} is compressed")
    return mapped, {one.filename.removesuffix(".npy"): _array(mapped, one.header_offset) for one in every}


def _array(mapped: mmap.mmap, begins: int) -> NDArray[Any]:
    name, more = struct.unpack_from("<HH", mapped, begins + _NAMED)
    place = begins + _HEADER + name + more
    head = io.BytesIO(mapped[place : place + npy.ARRAY_ALIGN * 4])
    npy.read_magic(head)
    shape, by_column, kind = npy.read_array_header_1_0(head)
    flat = np.frombuffer(mapped, kind, int(np.prod(shape)), place + head.tell())
    array = flat.reshape(shape, order="F" if by_column else "C")
    return array if array.nbytes >= LARGE else array.copy()

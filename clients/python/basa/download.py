"""Fetches a model piece by piece into a file: a lost connection costs one piece at most, and so does a process that ends."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Mapping

from .errors import Malformed
from .link import ServiceLink
from .suite import sha256

PIECE_BYTES = 4 << 20
_PARTIAL = "model-"


def download(
    link: ServiceLink, target: str, size: int, digest: bytes, folder: Path, member: Mapping[str, str]
) -> bytes:
    """`digest` names the model. The caller checks the bytes against it; bytes with another digest are not kept.

    `member` are the headers that show the certificate of the device.
    """
    partial = folder / f"{_PARTIAL}{digest.hex()}"
    _remove_others(folder, partial)
    with open(partial, "a+b") as file:
        at = min(file.tell(), size)
        while at < size:
            at = _fetch(link, target, file, at, size, member)
            link.progress.tell("model", done=at, total=size)
        file.seek(0)
        data = file.read(size)
    if sha256(data) != digest:
        partial.unlink()
    return data


def _fetch(  # type: ignore[no-untyped-def]
    link: ServiceLink, target: str, file, at: int, size: int, member: Mapping[str, str]
) -> int:
    """The next piece, or the whole model if the service does not support ranges."""
    end = min(size, at + PIECE_BYTES)
    part = {} if (at, end) == (0, size) else {"Range": f"bytes={at}-{end - 1}"}
    answer = link.call("GET", target, signed=True, headers={**member, **part}, most=size)
    start, stop = (at, end) if answer.status == 206 else (0, size)
    if len(answer.body) != stop - start:
        raise Malformed(f"{len(answer.body)} bytes of a model instead of {stop - start}")
    file.truncate(start)
    file.write(answer.body)
    file.flush()
    os.fsync(file.fileno())
    return stop


def _remove_others(folder: Path, kept: Path) -> None:
    """Removes parts of older versions."""
    for path in folder.glob(f"{_PARTIAL}*"):
        if path != kept:
            path.unlink()

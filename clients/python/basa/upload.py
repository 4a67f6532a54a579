"""Sends a body piece by piece, from the last byte that the server has stored: a lost connection costs at most one piece."""
from __future__ import annotations

from typing import Mapping, Tuple

from .errors import Malformed
from .link import LONGEST_WAIT_S, Problem, ServiceLink, document_of

MAX_TURNS = 32


def upload_in_pieces(
    link: ServiceLink, target: str, header: bytes, body: bytes, piece_bytes: int, is_resumed: bool
) -> None:
    """Returns once the server has all of it. Raises the server's `Problem` if the server rejects it."""
    named = {"Basa-Upload": header.hex()}
    offset = _within(body, _standing(link, target, named)) if is_resumed else 0
    turns = 0
    while True:
        piece = body[offset : offset + piece_bytes]
        try:
            received, is_accepted = _received(link.call("PUT", target, piece or None, headers=named, offset=offset).body)
            if is_accepted:
                link.progress.tell("upload", done=len(body), total=len(body))
                return
            # Only a whole piece counts as progress. Otherwise the same bytes could be sent again and again.
            turns += received < offset + max(1, len(piece))
            offset = _within(body, received)
            link.progress.tell("upload", done=offset, total=len(body))
        except Problem as problem:
            if problem.code != "offset-mismatch" or problem.upload_offset is None:
                raise
            turns += 1
            if turns > MAX_TURNS:
                raise
            link.progress.sleep(min(problem.wait_s, LONGEST_WAIT_S))
            offset = _within(body, problem.upload_offset)
        if turns > MAX_TURNS:
            raise Malformed(f"the server does not get beyond byte {offset} of the upload")


def _received(body: bytes) -> Tuple[int, bool]:
    document = document_of(body) or {}
    received, accepted = document.get("received"), document.get("accepted")
    if type(received) is not int or type(accepted) is not bool:
        raise Malformed("an upload without { received, accepted }")
    return received, accepted


def _within(body: bytes, offset: object) -> int:
    if type(offset) is not int or not 0 <= offset <= len(body):
        raise Malformed(f"byte {offset} of an upload of {len(body)}")
    return offset


def _standing(link: ServiceLink, target: str, named: Mapping[str, str]) -> int:
    """A refusal of this request has no reason. The first piece is refused with one."""
    try:
        told = link.call("HEAD", target, signed=True, headers=named).headers.get("upload-offset", "0")
        return int(told)
    except ValueError:
        raise Malformed("an Upload-Offset that is no number") from None
    except Problem:
        return 0

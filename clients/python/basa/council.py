"""The authorities of a task, and what they say together: a statement counts if t of them signed the same words."""
from __future__ import annotations

from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence

from .fields import ENDORSEMENTS, Message
from .layouts import Layout
from .suite import verifies


class Council(NamedTuple):
    #: Their public keys: the index of an authority is its name.
    keys: Sequence[bytes]
    #: t.
    threshold: int


def council_of(policy: Message) -> Council:
    return Council(policy.authorities, policy.threshold)


def is_signed_by(statement: Message, council: Council, authority: int) -> bool:
    """By this authority."""
    return _is_of(statement, council, authority, statement.signature)


def is_endorsed(statement: Message, council: Council) -> bool:
    """By t of the council at least, and by nobody else."""
    return len(statement.endorsements) >= council.threshold and _is_well_endorsed(statement, council)


def is_endorsed_by(statement: Message, council: Council, authority: int) -> bool:
    """By this one, and by nobody else."""
    return [one.authority for one in statement.endorsements] == [authority] and _is_well_endorsed(statement, council)


def _is_well_endorsed(statement: Message, council: Council) -> bool:
    """Every signature on it is one of the council. There may be too few."""
    return all(_is_of(statement, council, one.authority, one.signature) for one in statement.endorsements)


def _is_of(statement: Message, council: Council, authority: int, signature: bytes) -> bool:
    return authority < len(council.keys) and verifies(council.keys[authority], statement.statement, signature)


def agreed(layout: Layout, council: Council, statements: Iterable[Message]) -> Optional[Message]:
    """The statement that t of these agree on, with all their signatures. None if no words have as many. Each was checked before."""
    alike: Dict[bytes, Dict[int, Message]] = {}
    for statement in statements:
        of_words = alike.setdefault(statement.statement, {})
        of_words.update({one.authority: one for one in statement.endorsements})
    for words, by_index in alike.items():
        if len(by_index) >= council.threshold:
            signatures: List[Message] = [by_index[index] for index in sorted(by_index)]
            return layout.decode(words + ENDORSEMENTS.write(signatures))
    return None

"""The authorities of a task, and what they say together: a statement counts if t of them signed the same words in the same term."""
from __future__ import annotations

from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence

from .fields import ENDORSEMENTS, Message
from .layouts import Layout, header
from .suite import verifies


class Council(NamedTuple):
    #: Their public keys: the index of an authority is its name, also called its seat.
    keys: Sequence[bytes]
    #: t.
    threshold: int
    #: The hash of their term; None in the first term, whose keys are those of the policy.
    term: Optional[bytes] = None


def council_of(named: Message) -> Council:
    """Of a policy in its term, or of a descriptor that was held to it."""
    term = named.get("term")
    return Council(named.authorities, named.threshold, None if term is None else term.hash)


def words_of(council: Council, statement: bytes) -> bytes:
    """The bytes that an authority signs. In a later term they begin with its hash, so a statement counts in one term only."""
    return statement if council.term is None else header(76) + council.term + statement


def is_signed_by(statement: Message, council: Council, authority: int) -> bool:
    """By this authority, in the term of the council."""
    return _is_of_seat(statement, council, authority, statement.signature)


def is_endorsed(statement: Message, council: Council) -> bool:
    """By t of the council at least, and by nobody else."""
    return len(statement.endorsements) >= council.threshold and is_well_endorsed(statement, council)


def is_endorsed_by(statement: Message, council: Council, authority: int) -> bool:
    """By this one, and by nobody else."""
    return [one.authority for one in statement.endorsements] == [authority] and is_well_endorsed(statement, council)


def is_well_endorsed(statement: Message, council: Council) -> bool:
    """Every signature on it is one of the council. There may be too few."""
    return all(_is_of_seat(statement, council, one.authority, one.signature) for one in statement.endorsements)


def _is_of_seat(statement: Message, council: Council, authority: int, signature: bytes) -> bool:
    if authority >= len(council.keys):
        return False
    return verifies(council.keys[authority], words_of(council, statement.statement), signature)


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

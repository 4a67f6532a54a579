"""The authorities of a task, and what they say together: a statement counts where t of them signed the same words."""
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


def council_of(named: Message) -> Council:
    """Of a policy, or of a descriptor that was held to it."""
    return Council(named.authorities, named.threshold)


def is_endorsed(statement: Message, council: Council) -> bool:
    """By t of the council at least, and by nobody else."""
    return len(statement.endorsements) >= council.threshold and _all_good(statement, council)


def is_endorsed_by(statement: Message, council: Council, authority: int) -> bool:
    """By this one, and by nobody else."""
    return [one.authority for one in statement.endorsements] == [authority] and _all_good(statement, council)


def _all_good(statement: Message, council: Council) -> bool:
    return all(
        one.authority < len(council.keys) and verifies(council.keys[one.authority], statement.statement, one.signature)
        for one in statement.endorsements
    )


def agreed(layout: Layout, council: Council, statements: Iterable[Message]) -> Optional[Message]:
    """What t of these say alike, with all their signatures; None where no words have as many. Each was checked before."""
    alike: Dict[bytes, Dict[int, Message]] = {}
    for statement in statements:
        of_words = alike.setdefault(statement.statement, {})
        of_words.update({one.authority: one for one in statement.endorsements})
    for words, by_index in alike.items():
        if len(by_index) >= council.threshold:
            signatures: List[Message] = [by_index[index] for index in sorted(by_index)]
            return layout.decode(words + ENDORSEMENTS.write(signatures))
    return None

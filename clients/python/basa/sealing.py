"""The sealing of the seeds of one buffer: with slot keys, or with CP-ABE."""
from __future__ import annotations

from typing import TYPE_CHECKING, Callable, List, Mapping, Optional, Protocol

from . import slot_keys
from .errors import Malformed
from .fields import Message
from .layouts import CP_ABE, SLOT_KEYS
from .naming import edge_attribute, sealing_context, self_attribute, self_context
from .privacy import Randomness
from .suite import x25519_public

if TYPE_CHECKING:
    from .abe import AbeSealing

#: (sealed, "edge" or "backup", tag of its sender) to the seed; None if it does not open.
Opener = Callable[[bytes, str, bytes], Optional[bytes]]


class Sealing(Protocol):
    sealed_bytes: int
    #: The number of first bytes that name a sealed self seed to the authority.
    self_name_bytes: int

    def seal_edge(self, slot: int, role: str, tag: bytes, seed: bytes) -> bytes: ...

    def is_edge_key(self, slot: int, authority: int, key: bytes) -> bool:
        """With a key of another slot, every edge would count as void."""

    def edge_opener(self, slot: int, keys: Mapping[int, bytes]) -> Opener:
        """`keys` are those of as many authorities as are needed, by index."""

    def seal_self(self, registration: bytes, seed: bytes) -> bytes: ...


def sealing_for(descriptor: Message, ctx: bytes, keys: bytes, random_bytes: Randomness) -> Sealing:
    """`keys` are the lists of slot keys, which were checked."""
    if descriptor.engine == SLOT_KEYS:
        return SlotSealing(descriptor, ctx, keys)
    if descriptor.engine == CP_ABE:
        from .abe import AbeSealing  # the pairing is loaded for the tasks that need it

        return AttributeSealing(ctx, AbeSealing(descriptor.parts[0].sealing_key, random_bytes))
    raise Malformed(f"there is no engine {descriptor.engine} that hides anything")


class SlotSealing:
    self_name_bytes = slot_keys.KEY_BYTES

    def __init__(self, descriptor: Message, ctx: bytes, keys: bytes) -> None:
        self._ctx, self._threshold = ctx, descriptor.threshold
        self._authorities = [part.authority for part in descriptor.parts]
        length = slot_keys.list_bytes(descriptor.size)
        self._lists = [keys[at : at + length] for at in range(0, len(keys), length)]
        self.sealed_bytes = slot_keys.KEY_BYTES * (1 + len(self._lists))

    def _parts(self, role: slot_keys.Role) -> List[slot_keys.Part]:
        pairs = zip(self._authorities, self._lists)
        return [slot_keys.Part(authority, slot_keys.key_of(keys, role)) for authority, keys in pairs]

    def _seal(self, seed: bytes, role: slot_keys.Role, context: bytes) -> bytes:
        return slot_keys.seal(seed, self._parts(role), self._threshold, self._ctx, context)

    def seal_edge(self, slot: int, role: str, tag: bytes, seed: bytes) -> bytes:
        return self._seal(seed, slot, sealing_context(self._ctx, role, tag, slot))

    def is_edge_key(self, slot: int, authority: int, key: bytes) -> bool:
        if len(key) != slot_keys.KEY_BYTES:
            return False
        return slot_keys.Part(authority, x25519_public(key)) in self._parts(slot)

    def edge_opener(self, slot: int, keys: Mapping[int, bytes]) -> Opener:
        ctx, parts, threshold = self._ctx, self._parts(slot), self._threshold
        return lambda sealed, role, tag: slot_keys.unseal(
            sealed, keys, parts, threshold, ctx, sealing_context(ctx, role, tag, slot)
        )

    def seal_self(self, registration: bytes, seed: bytes) -> bytes:
        return self._seal(seed, "self", self_context(self._ctx, registration))


class AttributeSealing:
    """CP-ABE, which supports one authority."""

    self_name_bytes = 0

    def __init__(self, ctx: bytes, abe: "AbeSealing") -> None:
        self._ctx, self._abe, self.sealed_bytes = ctx, abe, abe.sealed_bytes

    def seal_edge(self, slot: int, role: str, tag: bytes, seed: bytes) -> bytes:
        return self._abe.seal(seed, edge_attribute(self._ctx, slot), sealing_context(self._ctx, role, tag, slot))

    def is_edge_key(self, slot: int, authority: int, key: bytes) -> bool:
        return authority == 0

    def edge_opener(self, slot: int, keys: Mapping[int, bytes]) -> Opener:
        unseal = self._abe.opener(keys[0])
        return lambda sealed, role, tag: unseal(sealed, sealing_context(self._ctx, role, tag, slot))

    def seal_self(self, registration: bytes, seed: bytes) -> bytes:
        return self._abe.seal(seed, self_attribute(self._ctx, registration), self_context(self._ctx, registration))

"""How the seeds of one buffer are sealed: with slot keys, or with CP-ABE."""
from __future__ import annotations

from typing import Callable, Optional, Protocol

from . import slot_keys
from .abe import AbeSealing, RandomBytes
from .layouts import Malformed, Message
from .naming import edge_attribute, sealing_context, self_attribute, self_context
from .suite import x25519_public

CP_ABE, SLOT_KEYS = 1, 3
ENGINES = (CP_ABE, SLOT_KEYS)
#: (sealed, "edge" or "backup", tag of who sealed it) to the seed; None where it does not open.
Opener = Callable[[bytes, str, bytes], Optional[bytes]]


class Sealing(Protocol):
    sealed_bytes: int
    #: How many of its first bytes name a sealed self seed to the authority.
    self_name_bytes: int

    def seal_edge(self, slot: int, role: str, tag: bytes, seed: bytes) -> bytes: ...

    def edge_opener(self, slot: int, key: bytes) -> Optional[Opener]:
        """None where this is not the key of the slot: a device that went on would count every edge as void."""

    def seal_self(self, registration: bytes, seed: bytes) -> bytes: ...


def sealing_for(descriptor: Message, ctx: bytes, keys: bytes, random_bytes: RandomBytes) -> Sealing:
    """`keys` is the list of slot keys, which was checked."""
    if descriptor.engine == SLOT_KEYS:
        return SlotSealing(ctx, keys)
    if descriptor.engine == CP_ABE:
        return AttributeSealing(ctx, AbeSealing(descriptor.sealing_key, random_bytes))
    raise Malformed(f"there is no engine {descriptor.engine} that hides anything")


class SlotSealing:
    sealed_bytes = slot_keys.SEALED_BYTES
    self_name_bytes = slot_keys.KEY_BYTES

    def __init__(self, ctx: bytes, keys: bytes) -> None:
        self._ctx, self._keys = ctx, keys

    def seal_edge(self, slot: int, role: str, tag: bytes, seed: bytes) -> bytes:
        key = slot_keys.key_of(self._keys, slot)
        return slot_keys.seal(seed, key, self._ctx, sealing_context(self._ctx, role, tag, slot))

    def edge_opener(self, slot: int, key: bytes) -> Optional[Opener]:
        public = slot_keys.key_of(self._keys, slot)
        if len(key) != slot_keys.KEY_BYTES or x25519_public(key) != public:
            return None
        ctx = self._ctx
        return lambda sealed, role, tag: slot_keys.unseal(sealed, key, public, ctx, sealing_context(ctx, role, tag, slot))

    def seal_self(self, registration: bytes, seed: bytes) -> bytes:
        key = slot_keys.key_of(self._keys, "self")
        return slot_keys.seal(seed, key, self._ctx, self_context(self._ctx, registration))


class AttributeSealing:
    self_name_bytes = 0

    def __init__(self, ctx: bytes, abe: AbeSealing) -> None:
        self._ctx, self._abe, self.sealed_bytes = ctx, abe, abe.sealed_bytes

    def seal_edge(self, slot: int, role: str, tag: bytes, seed: bytes) -> bytes:
        return self._abe.seal(seed, edge_attribute(self._ctx, slot), sealing_context(self._ctx, role, tag, slot))

    def edge_opener(self, slot: int, key: bytes) -> Optional[Opener]:
        unseal = self._abe.opener(key)
        return lambda sealed, role, tag: unseal(sealed, sealing_context(self._ctx, role, tag, slot))

    def seal_self(self, registration: bytes, seed: bytes) -> bytes:
        return self._abe.seal(seed, self_attribute(self._ctx, registration), self_context(self._ctx, registration))

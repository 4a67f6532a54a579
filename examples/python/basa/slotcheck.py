"""Slot keys against their vectors: what seals and opens, and which lists, seeds and keys this device refuses. Part of the self-check."""
from __future__ import annotations

from typing import Any, Dict, List

from . import slot_keys
from .checks import ctx_of, edge_opener
from .layouts import DRAWN_BUFFER, OUTCOME, U8, U16, Layout, Message, group, many, short
from .naming import registration_of, sealing_context, self_context
from .rulecheck import refusal
from .sealing import sealing_for

Vector = Dict[str, Any]
_RELEASED_EDGE = 1


def check_slot_seal(v: Vector) -> None:
    given = {name: bytes.fromhex(text) for name, text in v.items() if name not in ("use", "slot")}
    key, ctx, context = given["key"], given["ctx"], given["context"]
    assert slot_keys.seal(given["seed"], key, ctx, context) == given["sealed"]
    assert slot_keys.unseal(given["sealed"], given["secret"], key, ctx, context) == given["seed"]
    if v["use"] == "self":
        slot = Message(given, slot=v["slot"], tag=given["joinTag"])
        assert registration_of(slot) == given["registration"]
        assert self_context(ctx, given["registration"]) == context
    else:
        assert sealing_context(ctx, v["use"], given["joinTag"], v["slot"]) == context


def check_good_list(v: Vector) -> None:
    assert slot_keys.list_problem(bytes.fromhex(v["list"]), v["slots"], bytes.fromhex(v["hash"])) is None


def check_bad_list(v: Vector) -> None:
    assert slot_keys.list_problem(bytes.fromhex(v["list"]), 3, bytes.fromhex(v["hash"])) is not None


def check_bad_slot_seal(v: Vector) -> None:
    sealed, secret, key, ctx, context = (bytes.fromhex(v[name]) for name in "sealed secret key ctx context".split())
    assert slot_keys.unseal(sealed, secret, key, ctx, context) is None


def check_wrong_keys(v: Vector) -> None:
    """The secret of a slot is taken for that slot alone; a device that is given another one stops."""
    drawn = DRAWN_BUFFER.decode(bytes.fromhex(v["drawnBuffer"]))
    sealing = sealing_for(drawn.descriptor, ctx_of(drawn.descriptor), drawn.slot_keys, bytes)
    for slot, key in ((e.slot, e.key) for e in _released(v) if e.role == _RELEASED_EDGE):
        edge_opener(sealing, slot, key)
        for other, given in ((slot + 1, key), (slot, key[:-1]), (slot, bytes(32))):
            assert refusal(lambda: edge_opener(sealing, other, given)) == "key-invalid"


def _released(v: Vector) -> List[Message]:
    keys = many(group(slot=U16, role=U8, key=short(1024)))
    return list(Layout(13, signed=True, outcome=OUTCOME.nested, released=keys).decode(bytes.fromhex(v["closeAnswer"])).released)

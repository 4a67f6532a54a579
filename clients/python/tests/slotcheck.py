"""Slot keys against their vectors: sealing, opening, and the lists, seeds and keys that a device refuses. Part of the self-check."""
from __future__ import annotations

from itertools import combinations
from typing import Any, Dict, List

from basa import slot_keys
from basa.checks import ctx_of, drawn_buffer, edge_opener
from basa.fields import B32, U8, U16, Message, group, many, short
from basa.layouts import OUTCOME, POLICY, Layout
from basa.naming import registration_of, sealing_context, self_context
from basa.sealing import sealing_for
from basa.suite import sha256, x25519_public

from .rulecheck import refusal

Vector = Dict[str, Any]
_RELEASED_EDGE = 1


def check_slot_seal(v: Vector) -> None:
    given = {name: bytes.fromhex(text) for name, text in v.items() if name not in ("use", "slot")}
    key, ctx, context = given["key"], given["ctx"], given["context"]
    parts = [slot_keys.Part(0, key)]
    assert slot_keys.seal(given["seed"], parts, 1, ctx, context) == given["sealed"]
    assert slot_keys.unseal(given["sealed"], {0: given["secret"]}, parts, 1, ctx, context) == given["seed"]
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


def check_bad_slot_key(v: Vector) -> None:
    """In a list whose hash is right."""
    keys = x25519_public(bytes(range(32))) + bytes.fromhex(v["key"])
    assert slot_keys.list_problem(keys, 1, sha256(keys)) is not None


def check_bad_slot_seal(v: Vector) -> None:
    sealed, secret, key, ctx, context = (bytes.fromhex(v[name]) for name in "sealed secret key ctx context".split())
    assert slot_keys.unseal(sealed, {0: secret}, [slot_keys.Part(0, key)], 1, ctx, context) is None


def check_dealt(v: Vector) -> None:
    """Every set of as many as are needed opens it, and no smaller one."""
    ctx, context, seed, sealed = (bytes.fromhex(v[name]) for name in "ctx context seed sealed".split())
    parts, threshold = _parts(v), v["threshold"]
    assert slot_keys.seal(seed, parts, threshold, ctx, context) == sealed
    for secrets in _sets(v, threshold):
        assert slot_keys.unseal(sealed, secrets, parts, threshold, ctx, context) == seed
    for secrets in _sets(v, threshold - 1):
        assert slot_keys.unseal(sealed, secrets, parts, threshold, ctx, context) is None


def check_bad_dealt(v: Vector) -> None:
    ctx, context, sealed = (bytes.fromhex(v[name]) for name in "ctx context sealed".split())
    for secrets in _sets(v, v["threshold"]):
        assert slot_keys.unseal(sealed, secrets, _parts(v), v["threshold"], ctx, context) is None


def _parts(v: Vector) -> List[slot_keys.Part]:
    return [slot_keys.Part(part["authority"], bytes.fromhex(part["key"])) for part in v["parts"]]


def _sets(v: Vector, size: int) -> List[Dict[int, bytes]]:
    """The secrets of every set of this many authorities."""
    secrets = {part["authority"]: bytes.fromhex(part["secret"]) for part in v["parts"]}
    return [{authority: secrets[authority] for authority in some} for some in combinations(secrets, size)]


def check_wrong_keys(v: Vector) -> None:
    """The secret of a slot is accepted only for that slot. A device that gets another one stops."""
    drawn = drawn_buffer(bytes.fromhex(v["drawnBuffer"]), POLICY.decode(bytes.fromhex(v["policy"])))
    sealing = sealing_for(drawn.descriptor, ctx_of(drawn.descriptor), drawn.slot_keys, bytes)
    for slot, key in ((e.slot, e.key) for e in _released(v) if e.role == _RELEASED_EDGE):
        edge_opener(sealing, slot, {0: key})
        for other, given in ((slot + 1, key), (slot, key[:-1]), (slot, bytes(32))):
            assert refusal(lambda: edge_opener(sealing, other, {0: given})) == "key-invalid"


def _released(v: Vector) -> List[Message]:
    keys = many(group(slot=U16, role=U8, key=short(1024)))
    vote = Layout(27, endorsed=True, task=B32, ctx=B32, closing=B32)
    answer = Layout(13, signed=True, vote=vote.nested, outcome=OUTCOME.nested, released=keys)
    return list(answer.decode(bytes.fromhex(v["closeAnswer"])).released)

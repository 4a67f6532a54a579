"""Judges messages and makes bodies that another implementation sent as JSON lines, and prints what it found, line by line."""
import json
import sys

import numpy as np

from basa import wire
from basa.errors import Malformed
from basa.shots import ShotName, seal_parts, shot_body
from basa.suite import sha256
from basa.wire import Message


def judged(name: str, data: bytes) -> str:
    """The bytes that the values of a message encode to, or nothing for a message that is refused."""
    layout = getattr(wire, name)
    try:
        message = layout.decode(data)
    except Malformed:
        return "refused"
    again = layout.statement(**message)
    if layout.signed:
        again += message.signature
    if layout.endorsed:
        again += wire.ENDORSEMENTS.write(message.endorsements)
    return sha256(again).hex()


def body_of(v: Message) -> str:
    policy = Message(authorities=[b""] * v.authorities, one_shot=Message(tolerated=v.tolerated), group=v.group)
    name = ShotName(*(bytes.fromhex(v[part]) for part in ("task", "tag", "user")))
    epochs = [Message(authority=index, key=bytes.fromhex(key)) for index, key in enumerate(v["keys"])]
    seeds = [bytes.fromhex(seed) for seed in v.seeds]
    sealed = seal_parts(policy, name, epochs, seeds)
    return sha256(shot_body(policy, name, np.array(v.x, np.uint32), seeds, sealed)).hex()


for line in sys.stdin:
    asked = Message(json.loads(line))
    print(judged(asked.layout, bytes.fromhex(asked.data)) if "layout" in asked else body_of(asked))

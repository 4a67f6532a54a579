"""Tokens of devices: what the owner of an authority sees and registers of one."""
from check import hkdf

from .agreement import agree
from .x25519 import sha256


def check_enrolment(v):
    token, key = bytes.fromhex(v["token"]), bytes.fromhex(v["authority"])
    proof = hkdf(token, b"basa enrolment", key, 32)
    agree("the proof for one authority", proof.hex() == v["proof"])
    agree("the hash that its owner registers", sha256(proof).hex() == v["hash"])

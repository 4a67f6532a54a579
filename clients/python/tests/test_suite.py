"""Signatures that a strict check refuses, from the corner cases that C2SP published (CCTV, ed25519vectors.json)."""
import unittest

from basa.suite import verifies

#: Keys of order 8 with a message for which a signature of zeros satisfies the equation: nobody signed anything.
FORGED = {
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05": b"ed25519vectors 11",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a": b"ed25519vectors 5",
}


class Strictness(unittest.TestCase):
    def test_keys_of_small_order_sign_nothing(self) -> None:
        for key, message in FORGED.items():
            with self.subTest(key=key):
                self.assertFalse(verifies(bytes.fromhex(key), message, bytes(64)))

"""The noise of a task in words, as every client says it."""
from __future__ import annotations

import unittest

from basa.accountant import noise_sentence
from basa.fields import Message


def task(noise: float, by_authority: bool, budget: object = None) -> Message:
    privacy = Message(noise=noise, colluders=1, budget=budget)
    return Message(privacy=privacy, metrics=[], one_shot=Message(authority_noise=by_authority))


class Sentences(unittest.TestCase):
    def test_none(self) -> None:
        for statistics, words in (None, "a server that chooses the model"), (Message(), "exact sums of changing groups"):
            told = noise_sentence(Message(privacy=None, statistics=statistics))
            self.assertTrue(told.startswith(f"no noise: {words}"), told)

    def test_blur(self) -> None:
        told = noise_sentence(task(0.1, True))
        self.assertTrue(told.startswith("blur (noise 0.1, added by the authority): hides single examples from most"))
        self.assertIn("not one-bit questions to all devices", told)
        self.assertIn("too little to hide single examples", noise_sentence(task(0.04, True)))

    def test_a_large_epsilon(self) -> None:
        self.assertIn("a weak guarantee", noise_sentence(task(1.0, False, Message(delta=1e-6, participations=100))))

    def test_private(self) -> None:
        told = noise_sentence(task(1.0, False, Message(delta=1e-6, participations=4)))
        self.assertTrue(told.startswith("private (noise 1, added by the devices): epsilon 11.69 at delta 1e-06 for a device in 4 sums"))


if __name__ == "__main__":
    unittest.main()

"""The operator's own score of each version, at a server whose versions, faults and refusals are listed here."""
from __future__ import annotations

import json
import unittest
from typing import Any, Dict, List, Optional
from unittest import mock

import numpy as np

from basa import Problem, SettingsError
from basa.evaluate import evaluate

from .world import Says, Told, services_that

TASK = "ab" * 32


class Server:
    """Versions 0 to 3, of which the first has a score of this name, the second no parameters, and the third is not finite."""

    def __init__(self, state: str = "finished", **problems: List[Told]) -> None:
        self.state, self.problems = state, problems
        self.stored: List[int] = []

    def says(self) -> Says:
        def told(path: str, _: int) -> Told:
            what = path.split("/")[-1].split("?")[0]
            if self.problems.get(what):
                return self.problems[what].pop(0)
            if what == "metrics":
                return _json(versions=[self._version(n) for n in range(int(path.split("=")[1]), 4)])
            if what == "evaluation":
                self.stored.append(int(path.split("/")[-2]))
                return _json()
            if what == TASK:
                return _json(state=self.state, batches=0)
            return _no("not-found", 404) if what == "1" else Told(np.full(2, np.inf if what == "2" else float(what), "<f4").tobytes())

        return told

    def _version(self, n: int) -> Dict[str, Any]:
        scored = n == 0 or n in self.stored
        return {"version": n, **({"evaluation": {"name": "sum", "score": 0}} if scored else {})}


def _json(**told: Any) -> Told:
    return Told(json.dumps(told).encode())


def _no(code: str, status: int) -> Told:
    return Told(json.dumps({"type": f"urn:basa:problem:{code}", "title": code, "status": status}).encode(), status)


class Evaluates(unittest.TestCase):
    def run_at(self, server: Server, name: str = "sum", once: bool = False) -> List[Any]:
        said: List[Any] = []

        def told(version: int, numbers: Optional[Dict[str, float]]) -> None:
            said.append((version, numbers))

        with services_that([server.says()]) as [url], mock.patch("basa.evaluate.LOOK_S", 0.01):
            evaluate(lambda flat: (flat.sum(), 0.5), name, server=url, task=TASK, token="operator", once=once, told=told)
        return said

    def test_every_version_without_a_score_of_this_name_gets_one_the_newest_first(self) -> None:
        server = Server()
        self.assertEqual(self.run_at(server), [(3, {"score": 6.0, "loss": 0.5}), (2, None)])
        self.assertEqual(server.stored, [3])
        server = Server("running")
        self.run_at(server, "another", once=True)
        self.assertEqual(server.stored, [3, 0])

    def test_a_fault_of_the_server_is_waited_for_and_a_refusal_is_not(self) -> None:
        overloaded = [_no("overloaded", 503) for _ in range(7)]
        with mock.patch("basa.link.FIRST_WAIT_S", 0.001):
            server = Server(evaluation=list(overloaded))
            self.run_at(server)
            self.assertEqual(server.stored, [3])
            for refused, once in ((overloaded, True), ([_no("role-missing", 403)], False)):
                with self.assertRaises(Problem):
                    self.run_at(Server(metrics=list(refused)), once=once)

    def test_a_name_or_a_result_of_another_form_is_refused_before_anything_is_sent(self) -> None:
        for name in ("", "-", "f1\n", "a" * 33):
            with self.assertRaises(SettingsError):
                self.run_at(Server(), name)
        with services_that([Server().says()]) as [url], self.assertRaises(SettingsError):
            evaluate(lambda flat: "good", "sum", server=url, task=TASK, token="t")  # type: ignore[arg-type, return-value]

"""Scores the versions of a task on the operator's side, for models that the server cannot evaluate.

    from basa.evaluate import evaluate
    evaluate(score, "f1", server=..., task=..., token=...)

`score` gets the parameters as one flat array. It returns a number, larger is better, or a pair of that number and a loss.
`python3 -m basa.evaluate score.py f1` does this for `basa evaluate`: it prints a line of JSON for each version.
"""
from __future__ import annotations

import json
import math
import os
import re
import runpy
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Set, Tuple, Union

import numpy as np

from .errors import BasaError, SettingsError, Unreachable
from .link import Problem, ServiceLink
from .settings import Floats, Progress
from .simulate import told_of
from .suite import Signer

Score = Callable[[Floats], Union[float, Tuple[float, float]]]
#: Gets each version and its numbers; they are missing if one of them was not finite, so that the server has no score.
Told = Callable[[int, Optional[Dict[str, float]]], None]

#: Between two looks at the task, and after a service did not answer.
LOOK_S = 2.0
_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9 _.-]{0,31}")


def evaluate(
    score: Score,
    name: str,
    *,
    server: str,
    task: str,
    token: str,
    once: bool = False,
    told: Told = lambda version, numbers: None,
    progress: Optional[Progress] = None,
    unsafe_allow_plain_http: bool = False,
) -> int:
    """Gives each version a score, the newest first, until the task is finished; with `once` only the versions so far. Returns their number."""
    if _NAME.fullmatch(name) is None:
        raise SettingsError(f'the name of a score has at most 32 letters, digits, spaces and "_.-", and begins with a letter or digit; got "{name}"')
    # No request is signed: an operator has a token.
    link = ServiceLink(server, Signer(os.urandom(32)), bytes(32), unsafe_allow_plain_http, progress)
    versions = _Versions(link, f"/v1/tasks/{task}", {"Authorization": f"Bearer {token}"}, name)
    count = 0
    while True:
        try:
            version = versions.next()
            if version is None and (once or versions.is_over):
                return count
            parameters = None if version is None else versions.parameters(version)
            if version is None:
                link.progress.sleep(LOOK_S)
            elif parameters is not None:
                numbers = _numbers(score(parameters))
                if numbers is not None:
                    versions.store(version, numbers)
                    count += 1
                versions.leave(version)
                told(version, numbers)
        except (Problem, Unreachable) as no:
            if once or (isinstance(no, Problem) and not no.is_passing):
                raise
            link.progress.sleep(LOOK_S)


class _Versions:
    """The versions of a task at the server."""

    def __init__(self, link: ServiceLink, task: str, headers: Dict[str, str], name: str) -> None:
        self._link, self._task, self._headers, self._name = link, task, headers, name
        #: Every earlier version is done.
        self._first = 0
        self._done: Set[int] = set()
        self.is_over = False

    def next(self) -> Optional[int]:
        """The newest version that has no score of this name."""
        state = self._json("")
        told = self._json(f"/metrics?from={self._first}")["versions"]
        self.is_over = state["state"] == "finished" and state["batches"] == 0
        left = [one["version"] for one in told if one.get("evaluation", {}).get("name") != self._name and one["version"] not in self._done]
        self._first = left[0] if left else max((one["version"] for one in told), default=self._first)
        return left[-1] if left else None

    def parameters(self, version: int) -> Optional[Floats]:
        """None if the server has deleted them."""
        try:
            data = self._link.call("GET", f"{self._task}/models/{version}", headers=self._headers, most=1 << 32).body
        except Problem as no:
            if no.code == "not-found":
                self.leave(version)
                return None
            raise
        return np.frombuffer(data, "<f4")

    def leave(self, version: int) -> None:
        self._done.add(version)

    def store(self, version: int, numbers: Dict[str, float]) -> None:
        body = json.dumps({"name": self._name, **numbers}).encode()
        self._link.call("PUT", f"{self._task}/models/{version}/evaluation", body, kind="application/json", headers=self._headers)

    def _json(self, path: str) -> Any:
        return json.loads(self._link.call("GET", self._task + path, headers=self._headers, most=1 << 28).body)


def _numbers(returned: Any) -> Optional[Dict[str, float]]:
    """None if a number is not finite."""
    score, *loss = returned if isinstance(returned, tuple) else (returned,)
    try:
        numbers = {"score": float(score), **({"loss": float(loss[0])} if loss else {})}
    except (TypeError, ValueError):
        raise SettingsError(f"score(parameters) returns a number, or a pair of a score and a loss; got {returned!r:.80}") from None
    return numbers if all(map(math.isfinite, numbers.values())) else None


def main() -> int:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the file prints does not come between two lines

    def told(version: int, numbers: Optional[Dict[str, float]]) -> None:
        print(json.dumps({"version": version, **(numbers or {})}), file=answers, flush=True)

    path, name, *once = sys.argv[1:]
    try:
        if not Path(path).exists():
            raise SettingsError(f"{path} does not exist; check the path")
        sys.path.insert(0, str(Path(path).parent.absolute()))
        score = runpy.run_path(path, run_name="score").get("score")
        if not callable(score):
            raise SettingsError(f"{path} needs a function score(parameters) that returns a number")
        place = {word: os.environ[f"BASA_{variable}"] for word, variable in (("server", "SERVER"), ("task", "TASK"), ("token", "OPERATOR_TOKEN"))}
        plain = os.environ.get("BASA_UNSAFE_PLAIN_HTTP") == "1"
        evaluate(score, name, **place, once=bool(once), told=told, unsafe_allow_plain_http=plain)
        return 0
    except KeyboardInterrupt:
        return 130
    except BasaError as no:
        error = str(no)
    except Exception as fault:
        error = told_of(fault)
    print(json.dumps({"error": error}), file=answers, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())

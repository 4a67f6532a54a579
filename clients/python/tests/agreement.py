"""A test for each list of vectors."""
from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, List

Vector = Dict[str, Any]
VECTORS = Path(__file__).parents[3] / "conformance" / "vectors"


def read_vectors(name: str, folder: Path = VECTORS) -> Vector:
    read: Vector = json.loads((folder / f"{name}.json").read_text())
    return read


def agreement(name: str, check: Callable[[Vector], None], vectors: List[Vector]) -> unittest.TestCase:
    """One check, and every vector that it holds for."""

    def every() -> None:
        assert vectors, "there are no vectors"
        for number, vector in enumerate(vectors):
            try:
                check(vector)
            except Exception as error:
                raise AssertionError(f"{name}[{number}] does not come out: {error!r}") from error

    return unittest.FunctionTestCase(every, description=f"{name}: {len(vectors)} agree")

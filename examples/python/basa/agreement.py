"""Goes through vectors and ends the program at the first one that does not come out."""
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List

Vector = Dict[str, Any]
VECTORS = Path(__file__).parents[3] / "conformance" / "vectors"


def read_vectors(name: str, folder: Path = VECTORS) -> Vector:
    read: Vector = json.loads((folder / f"{name}.json").read_text())
    return read


def all_agree(name: str, check: Callable[[Vector], None], vectors: List[Vector]) -> None:
    for number, vector in enumerate(vectors):
        try:
            check(vector)
        except Exception as error:
            sys.exit(f"{name}[{number}] does not come out: {error!r}")
    print(f"{name}: {len(vectors)} agree")

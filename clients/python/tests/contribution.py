"""`python3 -m tests.contribution <folder> <token>...`: processor time of one contribution of each device, in milliseconds, for the benchmark."""
from __future__ import annotations

import json
import sys
import time

import numpy as np

import basa


def contribution_ms(folder: str, token: str) -> float:
    with basa.Client.from_environment(folder, token=token) as client:
        model = client.model()
        update = np.random.default_rng().uniform(-0.5, 0.5, len(model.parameters)).astype(np.float32)
        before = time.process_time()
        client.contribute(update, trained_on=model)
        return 1000 * (time.process_time() - before)


if __name__ == "__main__":
    place, *tokens = sys.argv[1:]
    print(json.dumps([contribution_ms(f"{place}-{n}", token) for n, token in enumerate(tokens)]))

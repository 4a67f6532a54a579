"""Reads what the laboratory wrote: orders of updates, networks, who has which examples, and the examples themselves."""

import gzip
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from streams import Streams, initial_parameters, name_of, shuffled


def read_orders(folder):
    with gzip.open(Path(folder, "orders.jsonl.gz"), "rt") as lines:
        return [json.loads(line) for line in lines]


def read_json(path):
    with gzip.open(path, "rt") as text:
        return json.load(text)


@lru_cache(maxsize=16)
def task_of(folder, name):
    return read_json(Path(folder, f"{name}.task.json.gz"))


@lru_cache(maxsize=64)
def users_of(folder, name, seed):
    """Examples of each user and of both tests, as places in the data."""
    found = read_json(Path(folder, f"{name}.{seed}.users.json.gz"))
    counts = np.array(found["counts"])
    indices = np.array(found.get("indices") or range(counts.sum()), np.int32)
    return {**found, "users": np.split(indices, np.cumsum(counts)[:-1])}


class Examples:
    """All examples of a dataset on one device, as they came; normalised when a batch is taken."""

    def __init__(self, folder, name, device):
        about = read_json(Path(folder, f"{name}.data.json.gz"))
        pieces = sorted(Path(folder).glob(f"{name}.data.*.gz"))
        pieces = [piece for piece in pieces if piece.name != f"{name}.data.json.gz"]
        if len(pieces) != about["pieces"]:
            raise SystemExit(f"{name} has {about['pieces']} pieces, and {len(pieces)} are here; bring the others first")
        raw = bytearray()
        for piece in pieces:
            with gzip.open(piece) as file:
                raw += file.read()
        count, shape = about["count"], about["shape"]
        words = count * shape[0] * shape[1] * shape[2]
        kind = np.uint8 if about["isBytes"] else np.float32
        inputs = np.frombuffer(raw, kind, words).reshape(count, *shape)
        self.inputs = torch.from_numpy(inputs).to(device)
        self.labels = torch.from_numpy(np.frombuffer(raw, np.uint8, count, inputs.nbytes)).to(device)
        self.unit = 255 if about["isBytes"] else 1
        self.mean = torch.tensor(about["mean"], device=device)
        self.deviation = torch.tensor(about["deviation"], device=device)

    def take(self, places):
        inputs = (self.inputs[places].float() / self.unit - self.mean) / self.deviation
        return inputs, self.labels[places].long()


def prepare(folder, job):
    """The examples of each update of an order, in the order in which its user trains on them, and the first model."""
    seed = job["seed"]
    users = users_of(folder, job["task"], seed)["users"]
    updates = [update for version in job["order"] for update in version]
    seeds = Streams([name_of(seed, "batch", user, trip) for user, trip, _, _ in updates]).u32()
    names = [name_of(int(word), "order") for word in seeds]
    orders = shuffled(names, [len(users[user]) for user, *_ in updates])
    return first_model(folder, job["task"], seed), [users[update[0]][own] for update, own in zip(updates, orders)]


@lru_cache(maxsize=4)
def first_model(folder, name, seed):
    model = task_of(folder, name)["model"]
    return initial_parameters(model["tensors"], model["dimension"], seed)

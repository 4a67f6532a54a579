"""
Trains orders of updates that `npm run lab -- experiment ... --orders <folder>` wrote, many orders and clients at a time.

    python3 lab/gpu/train.py <folder> <trained.jsonl> [--device cuda] [--stack 400] [--minutes 9] [--only femnist]
        [--noise 0.1 [--clip-factor 1]] [--versions 300]

Appends one line to trained.jsonl for each order that is finished, as the laboratory's own trainer does, and skips those
that have a line already: run it again to go on. Then `npm run lab -- experiment ... --finished` reports.

With --noise z, each update is clipped to the median norm of the first version's updates (times the clip factor) and rounded, and the
authority adds its noise to each sum, as in a task with noise; z = 0 only clips and rounds. These runs go on to their end, and
have a store of their own.
"""

import argparse
import json
import time
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path

import numpy as np
import torch

from network import Network
from orders import Examples, prepare, read_orders, task_of, users_of
from quantiser import noisy_mean, quantised_mean

EVALUATED_AT_ONCE = 250


class Run:
    """One order on its way: the newest model, older ones that updates still start from, and what was seen so far."""

    def __init__(self, job, first, places, device, noise=None):
        self.job = job
        self.noise = noise
        self.clip = None
        self.parameters = torch.from_numpy(first).to(device)
        self.models = {0: self.parameters}
        self.velocity = torch.zeros_like(self.parameters, dtype=torch.float64) if job["step"]["momentum"] else None
        self.generator = torch.Generator(device).manual_seed(int(job["name"][:12], 16))
        self.places = deque(places)
        self.version = 0
        self.accuracy = []
        self.reached = None
        self.samples = 0
        self.clipped = torch.zeros((), dtype=torch.int64, device=device)
        self.last_use = {}
        for n, updates in enumerate(job["order"]):
            for _, _, trained_on, _ in updates:
                self.last_use[trained_on] = n

    @property
    def updates(self):
        return self.job["order"][self.version]

    def take(self):
        """Start and examples of each update of the next version."""
        return [(self.models[update[2]], self.places.popleft()) for update in self.updates]

    def step(self, deltas):
        """The server's step with the mean of the updates, damped by their mean age."""
        job, updates = self.job, self.updates
        weights = torch.tensor([update[3] for update in updates], dtype=torch.float64, device=deltas.device)
        if self.noise is not None:
            norms = deltas.norm(dim=1)
            self.clip = self.clip or self.noise["factor"] * norms.median().item()
            self.clipped += (norms > self.clip).sum()
            mean = noisy_mean(deltas, self.clip, self.noise["multiplier"], self.generator)
        elif job.get("level") is None:
            mean = (weights[:, None] * deltas.double()).sum(0) / weights.sum()
        else:
            mean, clipped = quantised_mean(deltas, weights, job, self.generator)
            self.clipped += clipped
        if self.velocity is not None:
            mean = self.velocity.mul_(job["step"]["momentum"]).add_(mean)
        rate = job["step"]["rate"] * damping_of(job["step"].get("damping"), updates, self.version)
        self.parameters = (self.parameters.double() - rate * mean.double()).float()
        self.models = {v: model for v, model in self.models.items() if self.last_use.get(v, -1) > self.version}
        self.version += 1
        self.models[self.version] = self.parameters

    def look(self, accuracy):
        self.accuracy.append([self.version, accuracy])
        last = [value for _, value in self.accuracy[-self.job["evaluations"] :]]
        if self.reached is None and len(last) == self.job["evaluations"] and sum(last) / len(last) >= self.job["target"]:
            self.reached = self.version

    @property
    def is_over(self):
        goes_on = self.noise is not None or self.job.get("isWhole")
        return (self.reached is not None and not goes_on) or self.version == len(self.job["order"])


def damping_of(damping, updates, version):
    if damping is None or damping == "none":
        return 1
    age = sum(version - update[2] for update in updates) / len(updates)
    return (1 + age) ** -damping


def train_clients(network, task, examples, clients, rates):
    """start - end of each client, from (start, places of its examples); those with most steps first inside."""
    batch = task["batchSize"]
    steps = [-(-len(places) // batch) for _, places in clients]
    order = sorted(range(len(clients)), key=lambda n: -steps[n])
    padded = np.full((len(clients), max(steps) * batch), -1, np.int32)
    for row, n in enumerate(order):
        padded[row, : len(clients[n][1])] = clients[n][1]
    device = rates.device
    places = torch.from_numpy(padded).to(device).view(len(clients), max(steps), batch)
    sorted_steps = np.array([steps[n] for n in order])
    rates = rates[order]
    starts = torch.stack([clients[n][0] for n in order])
    flat = starts.clone()
    for step in range(max(steps)):
        active = int(np.searchsorted(-sorted_steps, -step))
        here = places[:active, step]
        counts = (here >= 0).float()
        inputs, labels = examples.take(here.clamp(min=0))
        network.descend(flat[:active], (inputs, labels, counts), rates[:active])
    starts -= flat
    back = torch.empty(len(order), dtype=torch.int64)
    back[torch.tensor(order)] = torch.arange(len(order))
    return starts[back.to(device)]


@torch.no_grad()
def accuracies(network, examples, runs, tests):
    """Of each run on its own test, all tests equally long."""
    flat = torch.stack([run.parameters for run in runs])
    places = torch.tensor(np.array(tests), device=flat.device)
    right = torch.zeros(len(runs), dtype=torch.int64, device=flat.device)
    for part in places.split(EVALUATED_AT_ONCE, 1):
        inputs, labels = examples.take(part)
        right += (network.outputs(flat, inputs).argmax(-1) == labels).sum(-1)
    return (right.double() / places.shape[1]).tolist()


class TaskTrainer:
    """Trains the orders of one task: as many side by side as fill the stack."""

    def __init__(self, folder, name, examples, options):
        self.folder, self.name, self.examples, self.options = folder, name, examples, options
        self.task = task_of(folder, name)
        self.network = Network(self.task["model"])

    def train(self, jobs, pool, finish):
        waiting = deque(jobs)
        ahead = deque()
        running = []
        while waiting or ahead or running:
            if time.monotonic() > self.options.deadline:
                waiting.clear()
                ahead.clear()
                if not running:
                    return
            while waiting and len(ahead) < 2 * self.options.workers:
                job = waiting.popleft()
                ahead.append((job, pool.submit(prepare, self.folder, job)))
            while ahead and sum(len(run.updates) for run in running) + len(ahead[0][0]["order"][0]) <= self.options.stack:
                running.append(self._begin(*ahead.popleft()))
            if not running:
                running.append(self._begin(*ahead.popleft()))
            self._advance(running)
            for run in [run for run in running if run.is_over]:
                running.remove(run)
                finish(run, self._accuracy(run, "wholeTest"), self._accuracy(run, "partTest"))

    def _begin(self, job, prepared):
        return Run(job, *prepared.result(), self.options.device, self.options.noise)

    def _advance(self, running):
        """One version of every run."""
        clients = [(run, client) for run in running for client in run.take()]
        deltas = []
        for at in range(0, len(clients), self.options.stack):
            part = clients[at : at + self.options.stack]
            rates = torch.tensor([run.job["learningRate"] for run, _ in part], device=self.options.device)
            deltas.append(train_clients(self.network, self.task, self.examples, [one for _, one in part], rates))
        deltas = torch.cat(deltas) if len(deltas) > 1 else deltas[0]
        at = 0
        for run in running:
            count = len(run.updates)
            run.samples += sum(len(places) for _, (_, places) in clients[at : at + count])
            run.step(deltas[at : at + count])
            at += count
        looking = [run for run in running if run.version % self.task["evaluateEvery"] == 0]
        if looking:
            tests = [users_of(self.folder, self.name, run.job["seed"])["quickTest"] for run in looking]
            for run, accuracy in zip(looking, accuracies(self.network, self.examples, looking, tests)):
                run.look(accuracy)

    def _accuracy(self, run, test):
        """In the end; None if the task has no such test."""
        places = users_of(self.folder, self.name, run.job["seed"]).get(test)
        return places and accuracies(self.network, self.examples, [run], [places])[0]


def line_of(run, whole_accuracy, part_accuracy):
    trained = {
        "accuracy": run.accuracy,
        "wholeAccuracy": whole_accuracy,
        "samples": run.samples,
        "clipped": int(run.clipped),
        "partySums": 0,
    }
    if part_accuracy is not None:
        trained["partAccuracy"] = part_accuracy
    if run.reached is not None:
        trained["reached"] = run.reached
    if run.noise is not None:
        about = {key: run.job[key] for key in ("task", "seed", "target")}
        trained |= {**about, **run.noise, "clip": run.clip, "bufferSize": len(run.job["order"][0]), "updates": sum(map(len, run.job["order"]))}
    return json.dumps({"name": run.job["name"], "trained": trained}, separators=(",", ":")) + "\n"


def finished_names(store):
    """A last line without its end was cut off while it was written: it is dropped."""
    if not store.exists():
        return set()
    text = store.read_text()
    whole = text[: text.rfind("\n") + 1]
    if len(whole) < len(text):
        store.write_text(whole)
    return {json.loads(line)["name"] for line in whole.splitlines()}


def read_options():
    parser = argparse.ArgumentParser(description="Trains orders of updates, many at a time.")
    parser.add_argument("folder", help="what the laboratory wrote")
    parser.add_argument("store", help="where finished orders are appended")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--stack", type=int, default=400, help="clients that train at a time")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no order after these")
    parser.add_argument("--only", help="only these tasks, with commas")
    parser.add_argument("--workers", type=int, default=cpu_count())
    parser.add_argument("--noise", type=float, help="z: clip, round and add noise as a task does; 0 adds none")
    parser.add_argument("--clip-factor", type=float, default=1, help="C over the median norm of the first updates")
    parser.add_argument("--versions", type=int, help="only the first ones of each order")
    options = parser.parse_args()
    options.noise = None if options.noise is None else {"multiplier": options.noise, "factor": options.clip_factor}
    options.deadline = time.monotonic() + 60 * options.minutes
    return options


def main():
    options = read_options()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(0)
    store = Path(options.store)
    done = finished_names(store)
    jobs = [job for job in read_orders(options.folder) if job["name"] not in done]
    for job in jobs:
        job["order"] = job["order"][: options.versions]
    if options.only:
        jobs = [job for job in jobs if job["task"] in options.only.split(",")]
    began = time.monotonic()
    samples = 0
    # Forked before the GPU is touched.
    with ProcessPoolExecutor(options.workers, get_context("fork")) as pool, store.open("a") as lines:
        list(pool.map(abs, range(options.workers)))

        def finish(run, whole_accuracy, part_accuracy):
            nonlocal samples
            samples += run.samples
            lines.write(line_of(run, whole_accuracy, part_accuracy))
            lines.flush()
            seconds = time.monotonic() - began
            job = run.job
            print(f"{seconds:.0f} s: {job['task']} seed {job['seed']} {job['about']}: {run.version} versions, "
                  f"{'reached' if run.reached else 'not reached'}, {whole_accuracy:.3f}; {samples / seconds:.0f} samples a second", flush=True)

        examples, data = None, None
        for name in dict.fromkeys(job["task"] for job in jobs):
            wanted = task_of(options.folder, name)["data"]
            if wanted != data:
                examples, data = Examples(options.folder, wanted, options.device), wanted
            TaskTrainer(options.folder, name, examples, options).train([job for job in jobs if job["task"] == name], pool, finish)
        pool.shutdown(cancel_futures=True)
    left = len(jobs) - (len(finished_names(store)) - len(done))
    print(f"{left} of {len(jobs)} orders are left" if left else f"all {len(jobs)} orders are trained")


if __name__ == "__main__":
    main()

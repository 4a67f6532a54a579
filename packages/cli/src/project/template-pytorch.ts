/** A project in Python: a PyTorch module, data from CSV files. */
import { clipLines, exampleLines, IGNORED, type ProjectPlace, readmeFile, type Template } from './template.ts';

const CLIP = 0.3;

const MODEL = `"""The network, its training and its data. \`basa simulate\`, create_task.py and device.py read this file."""
from pathlib import Path

import numpy as np
import torch
from basa.torch import TorchTrainer

torch.set_num_threads(1)
torch.manual_seed(1)
module = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))

# Training settings. They become part of the policy of the task, so no server can change them.
training = {"epochs": 2, "batchSize": 8, "learningRate": 0.1}

${clipLines(CLIP)
  .replace(/^\/\*\* (.*) \*\/$/m, '# $1')
  .replace('export const clip = ', 'clip = ')
  .replace(/;$/m, '')}

def load(name):
    """Each line of a file is one example: its label, then its numbers."""
    rows = np.loadtxt(Path(__file__).parent / "data" / name, delimiter=",", dtype=np.float32)
    return rows[:, 1:], rows[:, 0].astype(np.int64)


def trainer(device, devices):
    """The trainer of one device, with its examples. A real device reads its own file here."""
    inputs, labels = load("train.csv")
    mine = np.array_split(np.random.default_rng(1).permutation(len(labels)), devices)[device]
    return TorchTrainer(module, (inputs[mine], labels[mine]))


def test():
    """Scores the versions of a simulation."""
    return TorchTrainer(module, load("test.csv"))
`;

const CREATE = `"""Run this once as the operator: it creates the task, and writes task.json for the devices."""
import json
import os
import subprocess
import sys

from basa.torch import save_network
from model import clip, module, training

DEVICES = "3"
pins = {name: os.environ.get(variable) for name, variable in
        {"server": "BASA_SERVER", "authority": "BASA_AUTHORITY", "authorityKey": "BASA_AUTHORITY_KEY"}.items()}
if not all(pins.values()) or not os.environ.get("BASA_OPERATOR_TOKEN"):
    sys.exit("Set BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY and BASA_OPERATOR_TOKEN. \`npm run basa -- dev\` prints them.")
save_network(module, "net.json", "my-network")
command = ["npm", "run", "--silent", "basa", "--", "task", "create", "--name", "my-network", "--json"]
command += ["--model", "net.json", "--initial", "net.safetensors", "--clip", str(clip)]
command += ["--buffer", DEVICES, "--minimum", DEVICES]  # K updates in a sum; devices take part in no sum of fewer than three
command += ["--set", "training=" + json.dumps(training)]
created = subprocess.run(command, stdout=subprocess.PIPE, text=True)
if created.returncode != 0:
    sys.exit(created.returncode)
task = json.loads(created.stdout.splitlines()[-1])["task"]
with open("task.json", "w") as file:
    json.dump({**pins, "task": task}, file, indent=2)
print(f"task {task}\\nwrote task.json: the addresses and keys that devices need")
`;

const DEVICE = `"""One device: it downloads the model, trains on its own examples, and contributes a masked update."""
import logging
import sys

import basa
from model import trainer

number, devices = int(sys.argv[1]), 3
logging.basicConfig(level=logging.INFO, format=f"device {number}: %(message)s")
try:
    with basa.Client.from_file("task.json", f"devices/{number}", tokens="enrolment/tokens.txt", number=number) as client:
        client.run(trainer(number, devices), rounds=1)
except basa.BasaError as no:
    sys.exit(f"device {number}: {no}")
`;

const STEPS = `In one terminal, start a server and an authority on this machine:

\`\`\`sh
npm run basa -- dev --devices 0
\`\`\`

In a second terminal, paste the \`export\` lines that the first one printed, then run:

\`\`\`sh
npm run create                # the operator: creates the task, and writes task.json
npm run tokens                # the application: makes a token for each of three devices
npm run enrol                 # the owner of the authority: lets their devices in
npm run device -- 0 &         # three devices, each with a third of the data
npm run device -- 1 &
npm run device -- 2
\`\`\`
`;

const TAKEN = `\`\`\`sh
npm run basa -- task export my-network --model net.json --out model.safetensors
\`\`\`

The file contains the parameters of the module under their names: \`module.load_state_dict(safetensors.torch.load_file("model.safetensors"))\`.
`;

function packageOf({ name, packages, basa }: ProjectPlace): string {
  const scripts = {
    basa,
    simulate: `${basa} simulate model.py`,
    create: 'python3 create_task.py',
    tokens: `${basa} keys make --count 3`,
    enrol: `${basa} keys enroll --hashes enrolment --task my-network`,
    device: 'python3 device.py',
  };
  return `${JSON.stringify({ name, private: true, scripts, dependencies: packages }, null, 2)}\n`;
}

export const pytorchTemplate: Template = {
  about: 'a PyTorch module, in Python; install the client with `pip install ./clients/python torch`',
  files: (place) => ({
    'package.json': packageOf(place),
    '.gitignore': `${IGNORED}__pycache__/\nnet.json\nnet.safetensors\n`,
    'README.md': readmeFile(place, STEPS, TAKEN)
      .replaceAll('model.ts', 'model.py')
      .replaceAll('create-task.ts', 'create_task.py')
      .replaceAll('device.ts', 'device.py'),
    'model.py': MODEL,
    'create_task.py': CREATE,
    'device.py': DEVICE,
    'data/train.csv': exampleLines(1, 600),
    'data/test.csv': exampleLines(2, 300),
  }),
};

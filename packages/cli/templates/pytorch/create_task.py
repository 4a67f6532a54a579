"""Run this once as the operator: it creates the task, and writes task.json for the devices."""
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
    sys.exit("Set BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY and BASA_OPERATOR_TOKEN. `npm run basa -- dev` prints them.")
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
print(f"task {task}\nwrote task.json: the addresses and keys that devices need")

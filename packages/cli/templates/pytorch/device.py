"""One device: it downloads the model, trains on its own examples, and contributes a masked update."""
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

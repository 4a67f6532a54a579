/** `basa simulate model.py`: a trainer in Python as a model of your own. The simulation waits for each of its answers. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Dataset, Evaluation, OwnModel } from '@basa/learning';
import { CommandError, defined } from '../shell/command.ts';

/** An answer of clients/python/basa/simulate.py. */
interface Told {
  readonly error?: string;
  readonly network?: unknown;
  readonly training?: { readonly epochs: number; readonly batchSize: number; readonly learningRate: number };
  readonly clip?: number | null;
  readonly loss?: number;
  readonly samples?: number;
  readonly [score: string]: unknown;
}

interface Answer {
  readonly told: Told;
  readonly floats: Float32Array;
}

type Ask = (request?: Readonly<Record<string, unknown>>, parameters?: Float32Array) => Answer;

/** Trainers answer without a promise: a thread talks to the process, and the simulation sleeps until it is done. */
const THREAD = `
const { workerData: { port, flag, python, file, env } } = require('node:worker_threads');
const child = require('node:child_process').spawn(python, ['-m', 'basa.simulate', file], { stdio: ['pipe', 'pipe', 'inherit'], env });
let head, parts = [], size = 0;
const answer = (told, floats) => { port.postMessage({ told, floats: new Float32Array(floats ?? 0) }); Atomics.store(flag, 0, 1); Atomics.notify(flag, 0); };
const failed = (why) => answer({ error: why });
child.on('error', (fault) => failed(python + ' does not start: ' + fault.message));
child.stdin.on('error', () => {});
child.on('close', (code) => failed('the program ended with code ' + code + '; its own words are above'));
child.stdout.on('data', (part) => {
  parts.push(part); size += part.length;
  for (;;) {
    if (head === undefined) {
      const all = Buffer.concat(parts), end = all.indexOf(10);
      if (end < 0) return;
      head = JSON.parse(all.subarray(0, end)); parts = [all.subarray(end + 1)]; size = parts[0].length;
    }
    const bytes = 4 * head.floats;
    if (size < bytes) return;
    const all = Buffer.concat(parts), { floats, ...told } = head;
    parts = [all.subarray(bytes)]; size = parts[0].length; head = undefined;
    answer(told, new Uint8Array(all.subarray(0, bytes)).buffer);
    if (size === 0) return;
  }
});
port.on('message', ({ line, floats }) => { child.stdin.write(line + '\\n'); if (floats.length > 0) child.stdin.write(Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength)); });
`;

/** The client in a clone; an installed one is found by Python itself. */
const CLONE = fileURLToPath(new URL('../../../../clients/python', import.meta.url));

/** The interpreter and its environment, in which a clone's client is found. */
export function pythonHere(): { readonly python: string; readonly env: NodeJS.ProcessEnv } {
  const paths = [process.env['PYTHONPATH'], ...(existsSync(CLONE) ? [CLONE] : [])].filter((path) => path);
  return {
    python: process.env['BASA_PYTHON'] ?? 'python3',
    env: { ...process.env, PYTHONPATH: paths.join(':') },
  };
}

const HOW = 'programs in Python need `pip install ./clients/python`, and BASA_PYTHON may name the interpreter';

/** An error of a program in Python; one that did not tell it may lack the client. */
export function pythonError(file: string, error: string): CommandError {
  const isTold = !/^the program ended| does not start: /.test(error);
  return new CommandError(isTold ? `${file}: ${error}` : `${file}: ${error} (${HOW})`);
}

function start(file: string): Ask {
  const { port1, port2 } = new MessageChannel();
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const { python, env } = pythonHere();
  const workerData = { port: port2, flag, python, file, env };
  const thread = new Worker(THREAD, { eval: true, workerData, transferList: [port2] });
  thread.unref();
  port1.unref();
  return (request, parameters = new Float32Array()) => {
    if (request !== undefined) {
      const line = JSON.stringify({ ...request, floats: parameters.length });
      port1.postMessage({ line, floats: parameters });
    }
    Atomics.wait(flag, 0, 0);
    Atomics.store(flag, 0, 0);
    const { message } = receiveMessageOnPort(port1) as { readonly message: Answer };
    const { told, floats } = message;
    if (told.error !== undefined) throw pythonError(file, told.error);
    return { told, floats };
  };
}

export async function loadPythonModel(file: string): Promise<OwnModel> {
  const { readNetworkJson } = await import('@basa/learning');
  const ask = start(file);
  const { network, training, clip } = ask().told;
  const { epochs, batchSize, learningRate } = training ?? {};
  const model = readNetworkJson(network);
  const devices = new WeakMap<Dataset, number>();
  let started: number | undefined;
  return {
    model,
    ...(training !== undefined && { training: defined({ epochs, batchSize, learningRate }) }),
    ...(typeof clip === 'number' && { clip }),
    /** The examples stay in Python: one stands for all of a device. */
    data({ device, devices: count }) {
      if (started !== count) ask({ op: 'devices', devices: count });
      started = count;
      const dataset = standIn(`device ${device}`);
      devices.set(dataset, device);
      return { dataset, indices: Uint32Array.of(0) };
    },
    test: () => standIn('test'),
    trainer: () => ({
      name: 'Python',
      model,
      loss: 'own',
      init: () => ask({ op: 'initial' }).floats,
      train({ start: parameters, samples, epochs = 1, batchSize, learningRate }) {
        const device = devices.get(samples.dataset) ?? 0;
        const { told, floats } = ask({ op: 'train', device, epochs, batchSize, learningRate }, parameters);
        return { delta: floats, loss: told.loss ?? 0, samples: told.samples ?? 1 };
      },
      evaluate: (parameters) => ask({ op: 'evaluate' }, parameters).told as unknown as Evaluation,
    }),
  };
}

function standIn(name: string): Dataset {
  const shape = { height: 1, width: 1, channels: 1 };
  return { name, shape, classes: 1, inputs: new Float32Array(1), labels: new Float32Array(1) };
}

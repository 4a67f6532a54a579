/** Compares the processor time of one contribution of a Python device and of a Node device, with the same services. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalServices } from '@basa/cli/internal/local/local-services.ts';
import { BasaClient } from '@basa/client/node';
import { createTaskAt } from '@basa/client/operator';
import { defineModel, dense } from '@basa/learning';
import { cpuMs, median } from '@basa/simulator/virtual-time';
import { foundPython, runPython } from '../python/python.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const TURNS = 4;
const BUFFER = 10;
const HOUR_MS = 3_600_000;
const model = defineModel('million', { height: 1, width: 1, channels: 999 }, [dense(1000)]);

export async function benchPython({ quick }: BenchOptions): Promise<BenchResult> {
  const versions = foundPython();
  const turns = quick ? 1 : TURNS;
  const { node, python } = await measure(turns);
  const text = [
    `Processor time of one contribution of ${model.dimension} parameters, K = ${BUFFER}, from the update to the acknowledgement, of the`,
    `device's process, medians of ${turns}. ${versions}. The goal is at most twice the time of Node.`,
    '',
    formatTable(
      ['Node, ms', 'Python, ms', 'times Node'],
      [[node.toFixed(0), python.toFixed(0), (python / node).toFixed(2)]],
    ),
  ].join('\n');
  return { text, json: { python: { dimension: model.dimension, bufferSize: BUFFER, nodeMs: node, pythonMs: python } } };
}

/** Milliseconds of the processor, the median of the turns. */
async function measure(turns: number): Promise<{ readonly node: number; readonly python: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'basa-bench-python-'));
  const services = await startLocalServices({ folder, signal: new AbortController().signal });
  try {
    const { authority, serverUrl, authorityUrl, authorityKey } = services;
    const { task } = await createTaskAt(services, { model, bufferSize: BUFFER, minimum: BUFFER, clip: 1 });
    const tokens = await authority.tokens(task, 2 * turns, Date.now() + HOUR_MS);
    const common = { server: serverUrl, authority: authorityUrl, authorityKey, task };
    const node: number[] = [];
    for (const [n, token] of tokens.slice(turns).entries())
      node.push(await nodeMs({ ...common, token, identity: join(folder, `node-${n}`) }));
    const variables = {
      BASA_SERVER: serverUrl,
      BASA_AUTHORITY: authorityUrl,
      BASA_AUTHORITY_KEY: authorityKey,
      BASA_TASK: task,
    };
    const words = ['-m', 'tests.contribution', join(folder, 'python'), ...tokens.slice(0, turns)];
    const { stdout } = await runPython(words, variables);
    return { node: median(node), python: median(JSON.parse(stdout) as number[]) };
  } finally {
    await services.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function nodeMs(settings: Parameters<typeof BasaClient.connect>[0]): Promise<number> {
  const client = await BasaClient.connect({ ...settings, floor: { noNoise: true } });
  try {
    const { version } = await client.model();
    const delta = Float32Array.from({ length: model.dimension }, () => Math.random() - 0.5);
    const before = cpuMs();
    const result = await client.contribute(delta, { trainedOn: version });
    const ms = cpuMs() - before;
    if (result.kind !== 'accepted') throw new Error(`the Node device was refused: ${result.reason}`);
    return ms;
  } finally {
    await client.close();
  }
}

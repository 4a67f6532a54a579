/**
 * K = 10 masks over a vector, on one thread, as a ratio to the time of `openssl speed` for the same keystream; and on
 * additional threads, as a client does it.
 */
import { spawnSync } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { nodeOutside } from '@basa/client/node';
import {
  applyMasksInPlace,
  FIELD,
  type MaskPlan,
  type Modulus,
  plainVectorKernel,
  RING_32,
  ring as ringOf,
  Secret,
} from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite } from '@basa/runtime/node';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { timeInTurn } from './measure.ts';
import type { BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const EXPANSIONS = 9; // K = 10: one seed shared with each other position
const HEADLINE_D = 2 ** 20;
const DIMENSIONS = [10_000, 100_000, HEADLINE_D, 10_000_000];
const BLOCK_BYTES = 65_536;

interface Headline {
  readonly ms: number;
  readonly ratioToOpenssl: number;
}

export async function benchMasking(): Promise<BenchResult> {
  const kernel = createWasmVectorKernel() ?? plainVectorKernel();
  const limits: number[] = [];
  const rows: string[][] = [];
  const headline: { ring?: Headline; field?: Headline; ring16?: Headline; ring20?: Headline } = {};
  let nodeUpdateGBps = 0;
  for (const d of DIMENSIONS) {
    // The limit is measured before and after, and the faster one counts: a slow moment must not flatter the ratio.
    const before = opensslBytesPerSecond();
    const bytes = EXPANSIONS * 4 * d;
    const { update, ...masked } = timeInTurn(
      {
        ring: maskOnce(RING_32, d),
        field: maskOnce(FIELD, d),
        ring16: maskOnce(ringOf(16), d),
        ring20: maskOnce(ringOf(20), d),
        update: encryptZeros(bytes),
      },
      d > 2 ** 21 ? 5 : d < 50_000 ? 200 : 30,
    );
    const limit = Math.max(before, opensslBytesPerSecond());
    limits.push(limit);
    const limitMs = (1000 * bytes) / limit;
    nodeUpdateGBps = Math.max(nodeUpdateGBps, bytes / update.bestMs / 1e6);
    const ratio = (ms: number): number => round(ms / limitMs);
    rows.push([
      d.toLocaleString('en'),
      limitMs.toFixed(2),
      ...Object.values(masked).flatMap(({ bestMs }) => [bestMs.toFixed(2), ratio(bestMs).toFixed(2)]),
    ]);
    if (d !== HEADLINE_D) continue;
    for (const [name, { bestMs }] of Object.entries(masked))
      headline[name as keyof typeof masked] = { ms: round(bestMs), ratioToOpenssl: ratio(bestMs) };
  }
  const threads = await maskOnThreads(planOf(RING_32));
  const opensslGBps = round(Math.max(...limits) / 1e9);
  const groups = ['ring', 'field', '16 bits', '20 bits'];
  const header = ['d', 'openssl ms', ...groups.flatMap((group) => [`${group} ms`, 'ratio'])];
  const text = [
    `Masking with K = 10 (${EXPANSIONS} expansions), one thread, ${kernel.name} kernel, best of many runs.`,
    `Limit: openssl speed aes-128-ctr, ${opensslGBps} GB/s; only node:crypto update(), ${round(nodeUpdateGBps)} GB/s.`,
    '',
    formatTable(header, rows),
    '',
    `A client masks ${HEADLINE_D.toLocaleString('en')} elements of the ring on two threads in ${threads.ms} ms. Its main thread works for ${threads.callerMs} ms of that time.`,
  ].join('\n');
  return { text, json: { masking: { ...headline, threads, opensslGBps, nodeUpdateGBps: round(nodeUpdateGBps) } } };

  function maskOnce(modulus: Modulus, d: number): () => void {
    const vector = new Uint32Array(d);
    const plan = planOf(modulus);
    const tools = { suite: nodeSuite, kernel, keystream: createNodeKeystream() };
    return () => applyMasksInPlace(vector, plan, tools);
  }
}

function planOf(modulus: Modulus): MaskPlan {
  const terms = Array.from({ length: EXPANSIONS }, (_, i) => ({
    seed: new Secret(new Uint8Array(32).fill(i + 1)),
    sign: i % 2 === 0 ? (1 as const) : (-1 as const),
  }));
  return { modulus, salt: new Uint8Array(32), terms };
}

/** The best of several runs; the first of them starts the threads. */
async function maskOnThreads(plan: MaskPlan): Promise<{ readonly ms: number; readonly callerMs: number }> {
  const { mask } = nodeOutside();
  const vector = new Uint32Array(HEADLINE_D);
  let best = { ms: Number.POSITIVE_INFINITY, callerMs: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < 20; turn++) {
    const [began, before] = [performance.now(), performance.eventLoopUtilization()];
    await mask(vector, plan);
    const ms = performance.now() - began;
    if (ms < best.ms) best = { ms, callerMs: performance.eventLoopUtilization(before).active };
  }
  return { ms: round(best.ms), callerMs: round(best.callerMs) };
}

function encryptZeros(bytes: number): () => void {
  const zeros = new Uint8Array(Math.min(bytes, BLOCK_BYTES));
  return () => {
    const cipher = createCipheriv('aes-128-ctr', zeros.subarray(0, 16), zeros.subarray(0, 16));
    for (let left = bytes; left > 0; left -= zeros.length)
      cipher.update(zeros.subarray(0, Math.min(left, zeros.length)));
  };
}

function opensslBytesPerSecond(): number {
  const flags = ['speed', '-elapsed', '-mr', '-seconds', '1', '-bytes', String(BLOCK_BYTES), '-evp', 'aes-128-ctr'];
  const { stdout: output, error } = spawnSync('openssl', flags, { encoding: 'utf8' });
  if (error !== undefined)
    throw new MissingError(
      `openssl does not start (${error.message}), and this benchmark compares with it; install it (Debian: apt-get install openssl)`,
    );
  const rate = Number(/^\+F:.*:([\d.]+)\s*$/m.exec(output)?.[1]);
  if (!(rate > 0)) throw new Error(`openssl speed printed no rate:\n${output}`);
  return rate;
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}

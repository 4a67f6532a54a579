/** K = 10 masks over a vector, on one thread, as a ratio to what `openssl speed` needs for the same keystream. */
import { execFileSync } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import type { MaskPlan, Modulus } from '@basa/masking';
import { applyMasksInPlace, FIELD, plainVectorKernel, RING_32, Secret } from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite } from '@basa/runtime/node';
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

export function benchMasking(): BenchResult {
  const kernel = createWasmVectorKernel() ?? plainVectorKernel();
  const limits: number[] = [];
  const rows: string[][] = [];
  const headline: { ring?: Headline; field?: Headline } = {};
  let nodeUpdateGBps = 0;
  for (const d of DIMENSIONS) {
    // The limit is taken before and after, and the faster counts: a slow moment must not flatter the ratio.
    const before = opensslBytesPerSecond();
    const bytes = EXPANSIONS * 4 * d;
    const { ring, field, update } = timeInTurn(
      { ring: maskOnce(RING_32, d), field: maskOnce(FIELD, d), update: encryptZeros(bytes) },
      d > 2 ** 21 ? 5 : d < 50_000 ? 200 : 30,
    );
    const limit = Math.max(before, opensslBytesPerSecond());
    limits.push(limit);
    const limitMs = (1000 * bytes) / limit;
    nodeUpdateGBps = Math.max(nodeUpdateGBps, bytes / update.bestMs / 1e6);
    const ratio = (ms: number): number => round(ms / limitMs);
    rows.push([
      d.toLocaleString('en'),
      ...[limitMs, ring.bestMs].map((ms) => ms.toFixed(2)),
      ratio(ring.bestMs).toFixed(2),
      field.bestMs.toFixed(2),
      ratio(field.bestMs).toFixed(2),
    ]);
    if (d === HEADLINE_D) {
      headline.ring = { ms: round(ring.bestMs), ratioToOpenssl: ratio(ring.bestMs) };
      headline.field = { ms: round(field.bestMs), ratioToOpenssl: ratio(field.bestMs) };
    }
  }
  const opensslGBps = round(Math.max(...limits) / 1e9);
  const header = ['d', 'openssl ms', 'ring ms', 'ratio', 'field ms', 'ratio'];
  const text = [
    `Masking with K = 10 (${EXPANSIONS} expansions), one thread, ${kernel.name} kernel, best of many runs.`,
    `Limit: openssl speed aes-128-ctr, ${opensslGBps} GB/s; node:crypto update() alone ${round(nodeUpdateGBps)} GB/s.`,
    '',
    formatTable(header, rows),
  ].join('\n');
  return { text, json: { masking: { ...headline, opensslGBps, nodeUpdateGBps: round(nodeUpdateGBps) } } };

  function maskOnce(modulus: Modulus, d: number): () => void {
    const vector = new Uint32Array(d);
    const terms = Array.from({ length: EXPANSIONS }, (_, i) => ({
      seed: new Secret(new Uint8Array(32).fill(i + 1)),
      sign: i % 2 === 0 ? (1 as const) : (-1 as const),
    }));
    const plan: MaskPlan = { modulus, salt: new Uint8Array(32), terms };
    const tools = { suite: nodeSuite, kernel, keystream: createNodeKeystream() };
    return () => applyMasksInPlace(vector, plan, tools);
  }
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
  const output = execFileSync('openssl', flags, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const rate = Number(/^\+F:.*:([\d.]+)\s*$/m.exec(output)?.[1]);
  if (!(rate > 0)) throw new Error(`openssl speed printed no rate:\n${output}`);
  return rate;
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}

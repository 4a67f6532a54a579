/**
 * K = 10 masks over a vector, on one thread, as a ratio to the time of `openssl speed` for the same keystream; on
 * additional threads, as a client does it; and the sum of K = 1,000 masks, as an authority makes it.
 */
import { spawnSync } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { nodeOutside } from '@basa/client/node';
import { applyMasksInPlace, FIELD, type Modulus, RING_32, ring } from '@basa/masking';
import type { JoinTag, TaskId, UserId } from '@basa/protocol';
import { Parts } from '@basa/protocol/one-shot';
import type { Part } from '@basa/protocol/policy';
import { nodeRandomBytes } from '@basa/runtime/node';
import { cpuMs, nodeTools } from '@basa/simulator/virtual-time';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { EXPANSIONS, planOf } from './masked.ts';
import { bestInTurn } from './measure.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const THREADS_D = 2 ** 20;
const DIMENSIONS = [10_000, 100_000, THREADS_D, 10_000_000];
const MODULI: Readonly<Record<string, Modulus>> = {
  ring: RING_32,
  field: FIELD,
  '16 bits': ring(16),
  '20 bits': ring(20),
};
const BLOCK_BYTES = 65_536;

export async function benchMasking({ quick }: BenchOptions): Promise<BenchResult> {
  const { masks } = nodeTools();
  const maskOnce = (modulus: Modulus, d: number): (() => void) => {
    const [vector, plan] = [new Uint32Array(d), planOf(modulus)];
    return () => applyMasksInPlace(vector, plan, masks);
  };
  const results = (quick ? DIMENSIONS.slice(0, 1) : DIMENSIONS).map((d) => {
    const bytes = EXPANSIONS * 4 * d;
    const alternatives = Object.entries(MODULI).map(([name, modulus]) => [name, maskOnce(modulus, d)] as const);
    // The limit is measured before and after, and the faster one counts: a slow moment must not flatter the ratio.
    const before = opensslBytesPerSecond();
    const best: Readonly<Record<string, number>> = bestInTurn(
      { ...Object.fromEntries(alternatives), update: encryptZeros(bytes) },
      d > 2 ** 21 ? 5 : d < 50_000 ? 200 : 30,
    );
    const limitMs = (1000 * bytes) / Math.max(before, opensslBytesPerSecond());
    const msOf = (name: string): number => best[name] ?? Number.NaN;
    const masked = Object.keys(MODULI).map(
      (name) => [name, { ms: msOf(name), ratioToOpenssl: msOf(name) / limitMs }] as const,
    );
    return { d, opensslGBps: bytes / limitMs / 1e6, nodeUpdateGBps: bytes / msOf('update') / 1e6, limitMs, masked };
  });
  const threads = await maskOnThreads(quick ? 2 : 20);
  const sum = quick ? sumOfMasks(100, 2) : sumOfMasks(1000, 5);
  const most = (key: 'opensslGBps' | 'nodeUpdateGBps'): string =>
    Math.max(...results.map((one) => one[key])).toFixed(2);
  const text = [
    `Masking with K = 10 (${EXPANSIONS} expansions), one thread, ${masks.kernel.name} kernel, best of many runs.`,
    `Limit: openssl speed aes-128-ctr, ${most('opensslGBps')} GB/s; only node:crypto update(), ${most('nodeUpdateGBps')} GB/s.`,
    '',
    formatTable(
      ['d', 'openssl ms', ...Object.keys(MODULI).flatMap((name) => [`${name} ms`, 'ratio'])],
      results.map(({ d, limitMs, masked }) => [
        d.toLocaleString('en'),
        limitMs.toFixed(2),
        ...masked.flatMap(([, { ms, ratioToOpenssl }]) => [ms.toFixed(2), ratioToOpenssl.toFixed(2)]),
      ]),
    ),
    '',
    `A client masks ${THREADS_D.toLocaleString('en')} elements of the ring on two threads in ${threads.ms.toFixed(2)} ms. Its main thread works for ${threads.callerMs.toFixed(2)} ms of that time.`,
    `An authority sums K = ${sum.masks.toLocaleString('en')} masks of ${SUM_D.toLocaleString('en')} elements on one thread in ${(sum.ms / 1000).toFixed(2)} s of processor time, ${sum.ratioToOpenssl.toFixed(2)} times that of OpenSSL.`,
  ].join('\n');
  const rows = results.map(({ masked, ...rest }) => ({ ...rest, ...Object.fromEntries(masked) }));
  return { text, json: { masking: { rows, threads, sum } } };
}

/** The best of several runs; the first of them starts the threads. */
async function maskOnThreads(turns: number): Promise<{ readonly ms: number; readonly callerMs: number }> {
  const { mask } = nodeOutside();
  const [vector, plan] = [new Uint32Array(THREADS_D), planOf(RING_32)];
  let best = { ms: Number.POSITIVE_INFINITY, callerMs: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < turns; turn++) {
    const [began, before] = [performance.now(), performance.eventLoopUtilization()];
    await mask(vector, plan);
    const ms = performance.now() - began;
    if (ms < best.ms) best = { ms, callerMs: performance.eventLoopUtilization(before).active };
  }
  return best;
}

const SUM_D = 1_000_000;

/** The best of several rounds, with OpenSSL after each: both in processor time, which a busy machine disturbs least. */
function sumOfMasks(count: number, rounds: number) {
  const { masks } = nodeTools();
  const sum = new Uint32Array(SUM_D);
  const name = {
    task: nodeRandomBytes(32) as TaskId,
    joinTag: nodeRandomBytes(16) as JoinTag,
    user: nodeRandomBytes(32) as UserId,
  };
  let [ms, rate] = [Number.POSITIVE_INFINITY, 0];
  for (let round = 0; round < rounds; round++) {
    const uploads = Array.from({ length: count }, () => ({ name, seed: nodeRandomBytes(32) }));
    const before = cpuMs();
    Parts.addMasksInPlace(sum, { suite: masks.suite, tools: masks }, { modulus: RING_32 }, 0 as Part, uploads);
    ms = Math.min(ms, cpuMs() - before);
    rate = Math.max(rate, opensslBytesPerSecond([]));
  }
  return { masks: count, ms, ratioToOpenssl: (ms * rate) / (1000 * 4 * SUM_D * count) };
}

function encryptZeros(bytes: number): () => void {
  const zeros = new Uint8Array(Math.min(bytes, BLOCK_BYTES));
  return () => {
    const cipher = createCipheriv('aes-128-ctr', zeros.subarray(0, 16), zeros.subarray(0, 16));
    for (let left = bytes; left > 0; left -= zeros.length)
      cipher.update(zeros.subarray(0, Math.min(left, zeros.length)));
  };
}

/** By the clock, or without the flag by processor time. */
function opensslBytesPerSecond(clock: readonly string[] = ['-elapsed']): number {
  const flags = ['speed', ...clock, '-mr', '-seconds', '1', '-bytes', String(BLOCK_BYTES), '-evp', 'aes-128-ctr'];
  const { stdout: output, error } = spawnSync('openssl', flags, { encoding: 'utf8' });
  if (error !== undefined)
    throw new MissingError(
      `openssl does not start (${error.message}), and this benchmark compares with it; install it (Debian: apt-get install openssl)`,
    );
  const rate = Number(/^\+F:.*:([\d.]+)\s*$/m.exec(output)?.[1]);
  if (!(rate > 0)) throw new Error(`openssl speed printed no rate:\n${output}`);
  return rate;
}

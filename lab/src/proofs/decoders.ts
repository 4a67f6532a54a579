/** The long version of the decoder tests. */
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import { sampleMessages } from '@basa/testkit/core/sample-messages.ts';
import type { FuzzResult } from '@basa/testkit/fuzz/decoders.ts';
import type { DecoderTask } from './decoders-worker.ts';
import { forEachTask } from './pool.ts';

const RUNS_PER_TASK = 100_000;

interface DecodersOptions {
  readonly runs: number;
  readonly seed: number;
  readonly workers: number;
  readonly only?: string;
}

export async function proveDecoders({ runs, seed, workers, only = '' }: DecodersOptions, tell: (line: string) => void) {
  const names = sampleMessages().flatMap(({ name }) => (name.includes(only) ? [name] : []));
  const parts = Math.ceil(runs / RUNS_PER_TASK);
  const pool = createWorkerPool<DecoderTask, FuzzResult>({
    ...workerModule(import.meta.url, './decoders-worker'),
    size: workers,
  });
  const totals = names.map((message) => ({ message, runs: 0, decoded: 0 }));
  let told = 0;
  await forEachTask(
    pool,
    names.length * parts,
    (number) => {
      const part = number % parts;
      return {
        message: names[Math.floor(number / parts)] as string,
        runs: Math.min(RUNS_PER_TASK, runs - part * RUNS_PER_TASK),
        seed: seed + part,
      };
    },
    (number, answer) => {
      const total = totals[Math.floor(number / parts)] as (typeof totals)[number];
      total.runs += answer.runs;
      total.decoded += answer.decoded;
      if (total.runs < runs) return;
      const place = `${String(++told).padStart(3)}/${names.length}`;
      tell(`${place}  ${total.message.padEnd(26)} ${total.decoded} decoded, the rest refused`);
    },
  );
  await pool.close();
  return { messages: names.length, nextSeed: seed + parts, problems: [], details: { totals } };
}

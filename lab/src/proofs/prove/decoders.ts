/** `npm run lab -- prove decoders [--runs N] [--seed S] [--only TEXT] [--workers N] [--json]`: the long version of the decoder tests. */
import { availableParallelism } from 'node:os';
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import { sampleMessages } from '@basa/testkit/core/sample-messages.ts';
import type { FuzzResult } from '@basa/testkit/fuzz/decoders.ts';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import type { DecoderTask } from './decoders-worker.ts';
import { forEachTask } from './numbered-tasks.ts';
import { readOptions } from './options.ts';

const HELP = `npm run lab -- prove decoders [--runs N] [--seed S] [--only TEXT] [--workers N] [--json]

Gives N mutated inputs to the decoder of every message. The decoder must throw a DecodeError, or return a value that encodes to the same
bytes. The program stops at the first input that does neither.

  --runs N      number of inputs for each message (default: 10000000)
  --seed S      first seed (default: 1); every 100000 inputs use the next one. To continue a run, give its nextSeed
  --only TEXT   test only the messages whose name contains TEXT
  --workers N   number of worker threads (default: one per core); it does not change the result
  --json        print the result as one JSON object in the last line`;
const RUNS_PER_TASK = 100_000;

const { runs, seed, only, workers, json } = readOptions({
  help: HELP,
  numbers: { runs: 10_000_000, seed: 1, workers: availableParallelism() },
  texts: { only: '' },
  example: '--runs 1000000',
});
const names = sampleMessages().flatMap(({ name }) => (name.includes(only) ? [name] : []));
const parts = Math.ceil(runs / RUNS_PER_TASK);
console.log(`${names.length} messages, ${runs} inputs each, seed ${seed}`);
const begun = Date.now();
const pool = createWorkerPool<DecoderTask, FuzzResult>({
  ...workerModule(import.meta.url, './decoders-worker'),
  size: workers,
});
const totals = names.map((message) => ({ message, runs: 0, decoded: 0 }));
let told = 0;
await forEachTask(
  pool,
  { count: names.length * parts },
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
    console.log(`${place}  ${total.message.padEnd(26)} ${total.decoded} decoded, the rest refused`);
  },
);
await pool.close();
if (json)
  console.log(
    JSON.stringify({
      decoders: { seed, nextSeed: seed + parts, seconds: secondsSince(begun), messages: totals },
    }),
  );

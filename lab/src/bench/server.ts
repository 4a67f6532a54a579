/** Measures the server under load: durable uploads, compared with a server that discards them, and the cost of each step of a batch. */
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess, stopProcess } from '@basa/cli/internal/local/service-process.ts';
import { bundleTrial, type TrialBundle } from '../trials/bundle.ts';
import type { BenchResult } from './result.ts';
import { measureUploads, type Size, uploadsTable } from './server/uploads.ts';

const AT_ONCE = 4;
const SMALL: Size = { name: '7,850', dimension: 7850, uploads: 300, rounds: 2 };
const LARGE: Size = { name: '1M', dimension: 1_000_000, uploads: 24, rounds: 2 };

export async function benchServer(): Promise<BenchResult> {
  const bundle = await bundleTrial();
  const discard = await startDiscard(bundle);
  try {
    const small = await measureUploads(bundle, discard.url, SMALL, AT_ONCE);
    const large = await measureUploads(bundle, discard.url, LARGE, AT_ONCE);
    const notes = `${AT_ONCE} concurrent requests. Numbers per second are the best of the rounds. Server, discarding server, senders and disk share one machine. Two processes send uploads, both to the discarding server and to the server. Milliseconds are processor time per upload.`;
    return {
      text: `${uploadsTable([small, large])}\n\n${notes}`,
      json: {
        server: {
          smallToDiscard: small.toDiscard,
          smallCpuMs: small.cpuMs,
          largeToDiscard: large.toDiscard,
          largeCpuMs: large.cpuMs,
        },
      },
    };
  } finally {
    await stopProcess(discard.child);
  }
}

async function startDiscard(bundle: TrialBundle): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  let started: ChildProcess | undefined;
  const url = await startProcess({
    name: 'discard',
    command: [bundle.file('discard')],
    environment: {},
    logFile: join(tmpdir(), `basa-bench-${process.pid}.log`),
    signal: new AbortController().signal,
    onChild: (child) => {
      started = child;
    },
  });
  return { url, child: started as ChildProcess };
}

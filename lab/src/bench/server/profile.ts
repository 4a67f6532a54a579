/** Profiles an upload at the server, by step: one more run of it, watched, because watching costs. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestProcesses, type TestProcessesOptions } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial } from '../../trials/bundle.ts';
import { formatTable } from '../table.ts';
import type { HeldRequest } from './held-devices.ts';
import { loadHttp } from './load.ts';
import { playRound, type RoundOptions } from './round.ts';
import type { StepSums } from './step-sums.ts';

const LOOK_MS = 20;
/** The first ones warm it up. */
const ROUNDS = 3;

const LABELS: Readonly<Record<Exclude<keyof StepSums, 'requests'>, string>> = {
  wholeMs: 'from its head to its answer',
  receiveMs: 'to its last byte; meanwhile it is hashed and written',
  hashMs: 'hashing (the thread)',
  writeMs: 'writing (waited for)',
  syncMs: 'flushing of file and folders (waited for)',
  namesMs: 'opening, naming, renaming (waited for)',
  commitMs: 'commit of its record (the thread)',
  collectMs: 'collecting garbage (the thread)',
  threadMs: 'the thread busy, with all of the above that it does itself',
  cpuMs: 'processor time of all threads',
};

export async function profileUploads(
  options: Omit<TestProcessesOptions, 'bundle'>,
  round: Omit<RoundOptions, 'processes' | 'sendUploads'>,
): Promise<string> {
  const bundle = await bundleTrial({ watched: true });
  const processes = await TestProcesses.open({ ...options, bundle });
  try {
    const file = join(processes.folder, 'steps.json');
    await processes.stop('server');
    await processes.start('server', { BASA_STEPS: file }, [bundle.file('steps')]);
    const takeSteps = async (): Promise<StepSums> => {
      rmSync(file, { force: true });
      processes.children.get('server')?.kill('SIGUSR2');
      for (;;) {
        await sleep(LOOK_MS);
        try {
          return JSON.parse(readFileSync(file, 'utf8')) as StepSums;
        } catch {} // not written yet
      }
    };
    let steps: StepSums | undefined;
    const sendUploads = async (uploads: readonly HeldRequest[]) => {
      await takeSteps();
      const load = await loadHttp(uploads, round.atOnce);
      steps = await takeSteps();
      return load;
    };
    for (let n = 0; n < ROUNDS; n++) await playRound({ ...round, processes, sendUploads });
    return stepTable(steps as StepSums);
  } finally {
    await processes.close();
  }
}

function stepTable(steps: StepSums): string {
  const rows = Object.entries(LABELS).map(([step, label]) => [
    label,
    (steps[step as keyof StepSums] / steps.requests).toFixed(1),
  ]);
  return formatTable([`an upload of 4 MB, mean of ${steps.requests}`, 'ms'], rows);
}

/** Waits in a crash run until processes have ended, versions are made, or every upload has ended. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskPolicy } from '@basa/protocol/policy';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { CrashDatabase } from './crash-database.ts';
import type { Acknowledged } from './fleet.ts';
import { stuckUploads } from './shot-verdict.ts';

const LOOKS = 1500;
const LOOK_MS = 200;
const QUIET_LOOKS = 25;

/** Waits for this number of further versions that have updates in them. */
export async function grown(basa: TestProcesses, versions: number): Promise<void> {
  const made = async (): Promise<number> =>
    (await basa.server.versions(basa.task)).filter(({ accepted }) => accepted > 0).length;
  const enough = (await made()) + versions;
  while ((await made()) < enough) await sleep(LOOK_MS);
}

/** Opens every sum that can be opened; then all services start again with every deadline behind them. */
export async function settle(
  basa: TestProcesses,
  told: readonly Acknowledged[],
  { clockAhead, database }: { readonly clockAhead: string; readonly database?: CrashDatabase | undefined },
): Promise<void> {
  await quiet(basa, told);
  for (const name of [...basa.servers, ...basa.authorities]) await basa.stop(name);
  const aheadMs = deadlinesMs(basa.policy);
  await database?.goAhead(aheadMs);
  const ahead = { BASA_AHEAD_MS: String(aheadMs) };
  for (const name of [...basa.authorities, ...basa.servers]) await basa.start(name, ahead, [clockAhead]);
  for (let look = 0; look < LOOKS && (await stuckUploads(basa, told)).length > 0; look++) await sleep(LOOK_MS);
}

/** Beyond the end of every time to vote. */
function deadlinesMs({ oneShot }: TaskPolicy): number {
  return 1000 + (oneShot === undefined ? 0 : 2 * oneShot.epochMs);
}

/** Until what waits has been the same for a while, because it is too few for a batch. */
async function quiet(basa: TestProcesses, told: readonly Acknowledged[]): Promise<void> {
  let before = '';
  for (let look = 0, same = 0; look < LOOKS && same < QUIET_LOOKS; look++) {
    const waiting = await stuckUploads(basa, told);
    if (waiting.length === 0) return;
    same = waiting.join() === before ? same + 1 : 0;
    before = waiting.join();
    await sleep(LOOK_MS);
  }
}

export function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

export async function gone(child: ChildProcess | undefined): Promise<void> {
  if (child !== undefined && isAlive(child)) await new Promise((resolve) => child.once('exit', resolve));
}

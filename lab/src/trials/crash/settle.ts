/** Waits for what a crash run waits for: that processes are gone, that versions come, that every buffer has come to its end. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { CrashDatabase } from './crash-database.ts';
import { stuckBuffers } from './verdict.ts';

const LOOKS = 1500;
const LOOK_MS = 200;

/** Until there are so many versions more. */
export async function grown(basa: TestProcesses, versions: number): Promise<void> {
  const newest = async (): Promise<number> => (await basa.server.task(basa.task)).version ?? 0;
  const enough = (await newest()) + versions;
  while ((await newest()) < enough) await sleep(LOOK_MS);
}

/** Every buffer that can be opened is; then all services start again with every deadline behind them. */
export async function settle(basa: TestProcesses, clockAhead: string, database?: CrashDatabase): Promise<void> {
  const { openMs, closeMs, minimum } = basa.policy;
  const isOpenable = async (ctx: string): Promise<boolean> => {
    const buffer = await basa.server.buffer(ctx).catch(() => undefined); // one that the server never learnt of
    if (buffer === undefined) return false;
    const accepted = buffer.slots.filter(({ status }) => status === 'accepted').length;
    return buffer.status !== 'filling' || accepted >= minimum;
  };
  for (let look = 0; look < LOOKS; look++) {
    const waiting = await Promise.all((await stuckBuffers(basa)).map(isOpenable));
    if (!waiting.includes(true)) break;
    await sleep(LOOK_MS);
  }
  for (const name of [...basa.servers, ...basa.authorities]) await basa.stop(name);
  const aheadMs = openMs + closeMs + 1000;
  await database?.goAhead(aheadMs);
  const ahead = { BASA_AHEAD_MS: String(aheadMs) };
  for (const name of [...basa.authorities, ...basa.servers]) await basa.start(name, ahead, [clockAhead]);
  for (let look = 0; look < LOOKS && (await stuckBuffers(basa)).length > 0; look++) await sleep(LOOK_MS);
}

export function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

export async function gone(child: ChildProcess | undefined): Promise<void> {
  if (child !== undefined && isAlive(child)) await new Promise((resolve) => child.once('exit', resolve));
}

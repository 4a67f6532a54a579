/** Waits for what a crash run waits for: that processes are gone, that versions come, that every buffer has come to its end. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '@basa/testkit/processes/stage.ts';
import type { CrashDatabase } from './crash-database.ts';
import { stuckBuffers } from './verdict.ts';

const LOOKS = 1500;
const LOOK_MS = 200;

/** Until there are so many versions more. */
export async function grown(stage: Stage, versions: number): Promise<void> {
  const newest = async (): Promise<number> => (await stage.server.task(stage.task)).version ?? 0;
  const enough = (await newest()) + versions;
  while ((await newest()) < enough) await sleep(LOOK_MS);
}

/** Every buffer that can be opened is; then all services start again with every deadline behind them. */
export async function settle(stage: Stage, clockAhead: string, database?: CrashDatabase): Promise<void> {
  const { openMs, closeMs, minimum } = stage.policy;
  const isOpenable = async (ctx: string): Promise<boolean> => {
    const buffer = await stage.server.buffer(ctx).catch(() => undefined); // one that the server never learnt of
    if (buffer === undefined) return false;
    const accepted = buffer.slots.filter(({ status }) => status === 'accepted').length;
    return buffer.status !== 'filling' || accepted >= minimum;
  };
  for (let look = 0; look < LOOKS; look++) {
    const waiting = await Promise.all((await stuckBuffers(stage)).map(isOpenable));
    if (!waiting.includes(true)) break;
    await sleep(LOOK_MS);
  }
  for (const name of [...stage.servers, ...stage.authorities]) await stage.stop(name);
  const aheadMs = openMs + closeMs + 1000;
  await database?.goAhead(aheadMs);
  const ahead = { BASA_AHEAD_MS: String(aheadMs) };
  for (const name of [...stage.authorities, ...stage.servers]) await stage.start(name, ahead, [clockAhead]);
  for (let look = 0; look < LOOKS && (await stuckBuffers(stage)).length > 0; look++) await sleep(LOOK_MS);
}

export function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

export async function gone(child: ChildProcess | undefined): Promise<void> {
  if (child !== undefined && isAlive(child)) await new Promise((resolve) => child.once('exit', resolve));
}

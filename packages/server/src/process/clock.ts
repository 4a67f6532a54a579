/** The periodic work of a server: looks after its tasks, asks for revocations, and removes data that is no longer kept. */
import { startTicker, type Ticker } from '@basa/service';
import { startRetention } from '../tasks/retention.ts';
import type { Core } from './core.ts';
import type { Settings } from './settings.ts';

/** Longer than an epoch, within which devices of a private task count that asked for a place. */
const FORGOTTEN_MS = 48 * 3_600_000;

export interface ServerClock extends Ticker {
  /** Does all periodic work once. */
  tick(): Promise<void>;
}

export function startClock(settings: Settings, { tools, tasks }: Core): ServerClock {
  const { store, placeTable, nodes, revocations, onTrouble } = tools;
  const tick = async (): Promise<void> => {
    await placeTable.forget((await store.now()) - FORGOTTEN_MS);
    await nodes.catchUp(() => tasks.refresh());
    await tasks.tick();
  };
  const lookForRevocations = async (): Promise<void> => {
    if (tasks.all.some(({ state }) => state !== 'finished')) await revocations.look();
  };
  const onNoRevocations = (error: unknown): void => onTrouble('revocations could not be requested', error);
  const tickers = [
    startTicker(settings.tickMs, tick, (error) => onTrouble('a tick failed', error)),
    startTicker(settings.revocationsMs, lookForRevocations, onNoRevocations),
    startRetention({ ...tools, keep: settings.keep, tidyMs: settings.tidyMs, tasks }),
  ];
  return {
    async tick() {
      await lookForRevocations().catch(onNoRevocations);
      await tick();
    },
    async stop() {
      await Promise.all(tickers.map((ticker) => ticker.stop()));
    },
  };
}

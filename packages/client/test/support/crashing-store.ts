/** A store whose process dies at its n-th durable step: before the step is on disk, or right after. */
import type { DeviceStore } from '../../src/node/index.ts';

export class ProcessDied extends Error {}

export interface Crashes {
  /** The number of the durable step, from 0; never if it is larger than their number. */
  at: number;
  when: 'before' | 'after';
  /** Durable steps taken so far. */
  steps: number;
}

export function crashingStore(inner: DeviceStore, crashes: Crashes): DeviceStore {
  let isDead = false;
  const durable = async (step: () => Promise<void>): Promise<void> => {
    const isNow = crashes.steps++ === crashes.at;
    if (isDead || (isNow && crashes.when === 'before')) {
      isDead = true;
      throw new ProcessDied();
    }
    await step();
    if (!isNow) return;
    isDead = true;
    throw new ProcessDied();
  };
  return {
    signer: inner.signer,
    entries: () => inner.entries(),
    body: () => inner.body(),
    append: (entries, body) => durable(() => inner.append(entries, body)),
    replace: (entries) => durable(() => inner.replace(entries)),
    dropBody: () => durable(() => inner.dropBody()),
    close: async () => {},
  };
}

/** A device whose process dies at a durable step and is started again, in any mode. */
import { expect } from 'vitest';
import type { DeviceStore } from '../../src/node/index.ts';
import { connectTo, deltaOf } from './connect.ts';
import { type Crashes, crashingStore, ProcessDied } from './crashing-store.ts';
import type { Services } from './services.ts';
import { startClient } from './setup.ts';

/** Offers one update, dies as `crashes` says, and brings it to its end. Returns false if it did not die. */
export async function dieAndComeBack(services: Services, store: DeviceStore, crashes: Crashes): Promise<boolean> {
  const doomed = await connectTo(services, { identity: crashingStore(store, crashes), pieceBytes: 100 }).catch(died);
  const offered = await doomed?.contribute(deltaOf(3), { trainedOn: 0 }).catch(died);
  if (offered !== undefined) return false;
  const back = await startClient(services, { identity: store, pieceBytes: 100 });
  const resumed = await back.resume();
  if (resumed?.kind === 'accepted') return true;
  expect(resumed).toBeUndefined();
  const again = await back.contribute(deltaOf(3), { trainedOn: 0 });
  // If only the note of the acknowledgement was on disk, the version is known to be given.
  if (again.kind === 'rejected') expect(again.reason).toBe('version-given');
  return true;
}

function died(error: unknown): undefined {
  if (!(error instanceof ProcessDied)) throw error;
}

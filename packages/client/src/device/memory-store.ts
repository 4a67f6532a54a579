/** A store that loses everything with its process: for tests and trials, never for a real device. */
import type { DeviceSigner, DeviceStore } from './device-store.ts';

/** A device that crashes loses its session and its ledger with this store: do not use it for real updates. */
export function inMemoryStoreForTests(signer: DeviceSigner): DeviceStore {
  let kept: readonly Uint8Array[] = [];
  let keptBody: Uint8Array | undefined;
  const copies = (entries: readonly Uint8Array[]): Uint8Array[] => entries.map((entry) => entry.slice());
  return {
    signer,
    entries: async () => copies(kept),
    append: async (entries, body) => {
      kept = [...kept, ...copies(entries)];
      keptBody = body?.slice() ?? keptBody;
    },
    replace: async (entries) => {
      kept = copies(entries);
    },
    body: async () => keptBody?.slice(),
    dropBody: async () => {
      keptBody = undefined;
    },
    close: async () => {},
  };
}

/** A store that loses everything with its process: for tests and trials, never for a real device. */
import type { DeviceSigner, DeviceStore } from './device-store.ts';

/** A device that crashes loses its session and its ledger with this store: do not use it for real updates. */
export function inMemoryStoreForTests(signer: DeviceSigner): DeviceStore {
  let kept: readonly Uint8Array[] = [];
  let input: Uint8Array | undefined;
  const copies = (entries: readonly Uint8Array[]): Uint8Array[] => entries.map((entry) => entry.slice());
  return {
    signer,
    entries: async () => copies(kept),
    append: async (entries) => {
      kept = [...kept, ...copies(entries)];
    },
    replace: async (entries) => {
      for (const entry of kept) entry.fill(0);
      kept = copies(entries);
    },
    putInput: async (bytes) => {
      input = bytes.slice();
    },
    input: async () => input?.slice(),
    dropInput: async () => {
      input?.fill(0);
      input = undefined;
    },
    close: async () => {},
  };
}

/** One tab per device: a Web Lock that the browser releases when the tab ends. */
import { StoreError } from '../errors.ts';

/** Resolves with a function that releases the lock; rejects if another tab has it. */
export function lockDevice(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const held = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) {
        throw new StoreError(`the device ${name} is in use by another tab; give each client its own identity`);
      }
      return new Promise<void>((release) => resolve(release));
    });
    held.catch(reject);
  });
}

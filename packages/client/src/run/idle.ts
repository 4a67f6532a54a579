/** A device that has nothing new to contribute waits for a newer version of the model. */
import type { DeviceContext } from '../session/device-context.ts';

/** Kept between runs, so that the next run does not immediately train again on the same version. */
export interface Idle {
  /** The version that the device had nothing new for. */
  version?: number | undefined;
}

/** With `rounds`, a run ends if no newer version comes within this time. */
export const PATIENCE_MS = 60_000;

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Waits for a newer version, and asks less often each time. Returns false if no newer version came in time. */
export async function cameNewer(
  { outside }: Pick<DeviceContext, 'outside'>,
  version: number,
  look: () => Promise<{ readonly version: number }>,
  { patienceMs, signal }: { readonly patienceMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  let leftMs = patienceMs;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    if ((await look()).version > version) return true;
    if (leftMs <= 0) return false;
    await outside.sleep(Math.min(waitMs, leftMs), signal);
    leftMs -= waitMs;
  }
}

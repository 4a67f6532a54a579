/** Runs steps that take a while without holding up other requests. */
import { setImmediate as others } from 'node:timers/promises';

/** How long other requests wait at most, and one step more. */
const AT_ONCE_MS = 10;

export async function inSlices<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  for (let since = performance.now(); ; ) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() - since < AT_ONCE_MS) continue;
    await others();
    since = performance.now();
  }
}

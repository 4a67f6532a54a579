/** The parts of a process over time: opened and closed together, repeated, one after the other. */

// Opens something made of several parts, and closes the parts again, the last one first.

/** Takes the function that closes a part which was just opened. */
export type OnClose = (end: () => unknown) => void;

/** If opening fails, the parts that were opened are closed. A part whose closing throws does not keep the others open. */
export async function opened<Thing extends object>(
  open: (onClose: OnClose) => Promise<Thing>,
): Promise<Thing & { close(): Promise<void> }> {
  const ends: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    const end = ends.pop();
    if (end === undefined) return;
    try {
      await end();
    } finally {
      await close();
    }
  };
  try {
    return { ...(await open((end) => ends.push(end))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

// Calls a function repeatedly until it is stopped. Calls never overlap, and a failed call does not stop the ticker.

export interface Ticker {
  /** Resolves when the last call has ended; no call begins after this. */
  stop(): Promise<void>;
}

export function startTicker(everyMs: number, tick: () => Promise<void>, onError: (error: unknown) => void): Ticker {
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(() => {
      running = tick()
        .catch(onError)
        .finally(() => {
          if (!isStopped) next();
        });
    }, everyMs);
  };
  next();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

// A mutex: work begins when all earlier work has ended, successfully or not.

export type Queue = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

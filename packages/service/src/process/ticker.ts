/** Calls a function repeatedly until it is stopped. Calls never overlap, and a failed call does not stop the ticker. */

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

/** Calls a function again and again until it is stopped: never twice at once, and also after a call that failed. */

export interface Ticker {
  /** No call begins after this, and the last one has ended. */
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

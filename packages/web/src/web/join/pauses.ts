/** The pauses of a device: while its tab is hidden, while there is no network, and for as long as its owner wants. */
export interface Pauses {
  /** Called when it begins or ends to rest. */
  onChange(isResting: boolean, why: string): void;
}

export interface PauseControl {
  readonly isResting: boolean;
  /** The owner's wish. */
  want(isPaused: boolean): void;
  whenHidden(isSo: boolean): void;
}

export function watchPauses({ onChange }: Pauses): PauseControl {
  let [wanted, hiddenCounts, last] = [false, true, ''];
  const look = (): void => {
    const why = wanted
      ? 'paused'
      : !navigator.onLine
        ? 'paused: no network'
        : hiddenCounts && document.hidden
          ? 'paused: the tab is hidden'
          : '';
    if (why === last) return;
    last = why;
    onChange(why !== '', why);
  };
  document.addEventListener('visibilitychange', look);
  window.addEventListener('online', look);
  window.addEventListener('offline', look);
  queueMicrotask(look);
  return {
    get isResting() {
      return last !== '';
    },
    want(isPaused) {
      wanted = isPaused;
      look();
    },
    whenHidden(isSo) {
      hiddenCounts = isSo;
      look();
    },
  };
}

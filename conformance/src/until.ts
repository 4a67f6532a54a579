/** Looks until it is true: only a hang is an error. A signal ends it earlier. */
export async function until(isSo: () => Promise<boolean> | boolean, signal?: AbortSignal): Promise<void> {
  while (!(await isSo())) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

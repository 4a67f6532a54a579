/** Looks again and again, since only a hang is an error; whoever wants an end to that gives a signal. */
export async function until(isSo: () => Promise<boolean> | boolean, signal?: AbortSignal): Promise<void> {
  while (!(await isSo())) {
    signal?.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

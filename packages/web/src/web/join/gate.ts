/**
 * Decides whether the device may work now. Closing the gate aborts the running work. Its state is stored, and the work continues when the
 * gate opens.
 */
export class Gate {
  #closed: { readonly opened: Promise<void>; readonly open: () => void } | undefined;
  #working = new AbortController();
  readonly #leaving = new AbortController();

  /** True if the device must leave permanently. */
  get isLeaving(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Aborts when the gate closes, and permanently when the device leaves. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#working.signal, this.#leaving.signal]);
  }

  close(): void {
    if (this.#closed !== undefined) return;
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#closed = { opened, open };
    this.#working.abort(new Error('paused'));
  }

  open(): void {
    const closed = this.#closed;
    if (closed === undefined) return;
    this.#closed = undefined;
    this.#working = new AbortController();
    closed.open();
  }

  leave(): void {
    this.#leaving.abort(new Error('left'));
    this.open();
  }

  /** Resolves once the gate is open. */
  async passed(): Promise<void> {
    await this.#closed?.opened;
  }
}

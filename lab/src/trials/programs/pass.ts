/** Passes durable moments from the database of a bundle to the preload: they are two files, in one process. */

export const PASS: unique symbol = Symbol.for('basa.pass-moment') as never;

/** Without the preload this does nothing. */
export function passMoment(name: string): void {
  (globalThis as { [PASS]?: (name: string) => void })[PASS]?.(name);
}

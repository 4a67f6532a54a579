/** The duration of a trial, for its last line, in whole seconds. */
export function secondsSince(begunMs: number): number {
  return Math.round((Date.now() - begunMs) / 1000);
}

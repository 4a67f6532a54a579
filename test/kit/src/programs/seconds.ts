/** How long a trial took, for its last line: whole seconds. */
export function secondsSince(begunMs: number): number {
  return Math.round((Date.now() - begunMs) / 1000);
}

/** Stops a service that was started as a child with its parent. A separate file, because `basa server` loads it before anything else. */

/** Set for a child whose standard input ends with its parent, in any way. */
export const STOP_WITH_PARENT = 'BASA_STOP_WITH_PARENT';

/** In the child: stops in an orderly way once the parent is gone. */
export function stopWithParent(environment: Readonly<Record<string, string | undefined>>): void {
  if (environment[STOP_WITH_PARENT] === undefined) return;
  process.stdin.once('end', () => process.kill(process.pid, 'SIGTERM'));
  process.stdin.resume();
  process.stdin.unref();
}

/** Processor time of processes, as Linux counts it. */
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** User and system time of all threads. */
export function cpuSeconds(pid: number): number {
  const [user = 0, system = 0] = statOf(pid).slice(11, 13).map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

/** The fields after the name, which may contain any character: state, parent and so on. */
function statOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return []; // it has ended
  }
}

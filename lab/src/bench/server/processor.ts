/** Processor time of processes, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** User and system time of all threads. `with children` also includes child processes, running or ended. */
export function cpuSeconds(pids: readonly number[], which: 'alone' | 'with children'): number {
  const own = which === 'alone' ? [] : childrenOf(pids);
  return [...pids, ...own].reduce((sum, pid) => {
    const fields = statOf(pid);
    const [user = 0, system = 0, waitedUser = 0, waitedSystem = 0] = fields.slice(11, 15).map(Number);
    const waited = which === 'alone' ? 0 : waitedUser + waitedSystem;
    return sum + (user + system + waited) / TICKS_PER_SECOND;
  }, 0);
}

function childrenOf(pids: readonly number[]): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pids.includes(Number(statOf(pid)[1])));
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

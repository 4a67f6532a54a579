/**
 * The processes that started this one for a person: npm and its shell. When they are killed, this process is not stopped, so it watches
 * them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** npm, and one or two shells. */
const MAX_STARTERS = 3;

interface Started {
  readonly ppid: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Their process ids. A shell or another program that a person started is not among them. */
export function startersOf({ ppid, environment }: Started): readonly number[] {
  if (environment['npm_command'] === undefined) return [];
  const chain: number[] = [];
  for (let pid = ppid; chain.length < MAX_STARTERS; ) {
    const found = lookUp(pid);
    if (found === undefined) break;
    chain.push(pid);
    if (found.isNpm) return chain;
    pid = found.parent;
  }
  return []; // the variable comes from an npm further up
}

/** Calls back once, when one of them is gone. */
export function whenGone(pids: readonly number[], tell: () => void): void {
  if (pids.length === 0) return;
  const watch = setInterval(() => {
    if (pids.every(isThere)) return;
    clearInterval(watch);
    tell();
  }, 1000);
  watch.unref();
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function lookUp(pid: number): { readonly parent: number; readonly isNpm: boolean } | undefined {
  try {
    if (process.platform !== 'linux') {
      const said = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' });
      const [, parent = '', command = ''] = /^\s*(\d+)\s+(.*)/.exec(said) ?? [];
      return { parent: Number(parent), isNpm: isNpm(command) };
    }
    // After the name of the program, which may hold anything: the state, then the parent.
    const [, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return { parent: Number(parent), isNpm: isNpm(readFileSync(`/proc/${pid}/cmdline`, 'utf8')) };
  } catch {
    return undefined;
  }
}

/** npm writes its title over its command line. */
function isNpm(command: string): boolean {
  return /^npm\b/.test(command) || /\bnpm-cli\.js\b/.test(command);
}

/** This process: it ends with those who started it, and in an orderly way if its output is no longer read; the words a person types to start it again. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { EXIT_CODE } from './command.ts';
import type { Streams } from './terminal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Stops in an orderly way, as after Ctrl-C: everything that was started is stopped. */
const stop = (): boolean => process.kill(process.pid, 'SIGTERM');

/** `run` resolves with the exit code. */
export async function runInProcess(run: (streams: Streams) => Promise<number>): Promise<void> {
  /** The reader of the output has gone (`basa ... | head`), or the terminal was closed: then nothing more is written. */
  let isUnheard = false;
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
      isUnheard = true;
      if (process.listenerCount('SIGTERM') > 0) stop(); // a command is under way
    });
  /** Standard error, as long as it is read. */
  const stderr = {
    isTTY: process.stderr.isTTY,
    get columns() {
      return process.stderr.columns;
    },
    write: (text: string): unknown => isUnheard || process.stderr.write(text),
  };
  whenGone(startersOf(process.ppid, process.env), stop);
  const code = await run({ stdout: process.stdout, stderr });
  process.exitCode = isUnheard && code === EXIT_CODE.interrupted ? EXIT_CODE.unheard : code;
}

/** The processes that started this one for a person: npm, and one or two shells. When they are killed, this process is not stopped, so it watches them. */
const MAX_STARTERS = 3;

/** Their process ids. A shell or another program that a person started is not among them. */
export function startersOf(ppid: number, environment: Environment): readonly number[] {
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

/** Set for a child whose standard input ends with its parent, in any way. */
export const STOP_WITH_PARENT = 'BASA_STOP_WITH_PARENT';

/** In the child: stops in an orderly way once the parent is gone. */
export function stopWithParent(environment: Environment): void {
  if (environment[STOP_WITH_PARENT] === undefined) return;
  process.stdin.once('end', () => process.kill(process.pid, 'SIGTERM'));
  process.stdin.resume();
  process.stdin.unref();
}

/** Returns the command that starts `basa` in the same way again. */
export function programName(script: string, folder: string, environment: Environment): string {
  if (script.endsWith('.ts')) return 'npm run basa --';
  const isInProject = script.startsWith(join(folder, 'node_modules') + sep);
  return environment['npm_command'] === 'exec' || isInProject ? 'npx basa' : 'basa';
}

/** All hints are written as `basa ...` in backticks; here they become the command that this person has to type. */
export function fitted(text: string, program: string): string {
  return text.replaceAll(/`basa (?=[a-z<-])/g, `\`${program} `);
}

/** A path as one word of a command line, for sh and for cmd. */
export function quoted(path: string): string {
  return /[^\w./:\\@+-]/.test(path) ? `"${path}"` : path;
}

/** The first of name, name-2, name-3 .. that does not exist: an older folder may belong to a device of another task. */
export function newFolder(name: string): string {
  for (let n = 2, folder = name; ; n++) {
    if (!existsSync(folder)) return folder;
    folder = `${name}-${n}`;
  }
}

export async function ownVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

export async function versionText(): Promise<string> {
  return `basa ${await ownVersion()}, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
}

/** A service as a process of its own: started until it says where it listens, stopped in order or killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { CommandError, EXIT_CODE } from '../shell/command.ts';

/** Set for a child whose standard input ends with its parent, however that ends. */
const STOP_WITH_PARENT = 'BASA_STOP_WITH_PARENT';

/** In the child: stops in order once the parent is gone. */
export function stopWithParent(environment: Readonly<Record<string, string | undefined>>): void {
  if (environment[STOP_WITH_PARENT] === undefined) return;
  process.stdin.once('end', () => process.kill(process.pid, 'SIGTERM'));
  process.stdin.resume();
  process.stdin.unref();
}

export interface ProcessOptions {
  readonly name: string;
  /** What follows `node` on the command line. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The file that its words are added to. */
  readonly logFile: string;
  readonly signal: AbortSignal;
  /** Told of the process before it listens. */
  onChild(child: ChildProcess): void;
}

/** Gives the address it says it listens at. */
export function startProcess({
  name,
  command,
  environment,
  logFile,
  signal,
  onChild,
}: ProcessOptions): Promise<string> {
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...environment, [STOP_WITH_PARENT]: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // Ctrl-C goes to us alone, and we stop them in order
  });
  onChild(child);
  const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  child.stderr.pipe(log, { end: false });
  child.once('close', () => log.end());
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-1000);
  });
  return new Promise((resolve, reject) => {
    const give = (why: Error): void => {
      child.kill('SIGTERM');
      reject(why);
    };
    const onAbort = (): void => give(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    child.once('exit', (code) => {
      signal.removeEventListener('abort', onAbort);
      const isTold = code !== null && code > EXIT_CODE.failed; // one sentence, and a code that says what kind of trouble it is
      const words = isTold ? `the ${name} does not start: ` : `the ${name} ended with code ${code}: `;
      give(new CommandError(`${words}${errors.trim().replace(`${name}: `, '')}`, isTold ? code : EXIT_CODE.failed));
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.write(`${line}\n`);
      const [, url] = /^\w+: listening at (https?:\S+)$/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exit;
  clearTimeout(kill);
}

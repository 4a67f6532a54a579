/** The client under test: whatever takes its settings from the environment and ends with 0 once its update is accepted. */
import { spawn } from 'node:child_process';
import { CommandError } from '@basa/cli/internal/shell/command.ts';

export interface ClientEnd {
  /** Null if it was killed. */
  readonly code: number | null;
  /** Everything it wrote. */
  readonly output: string;
}

export interface RunningClient {
  readonly ended: Promise<ClientEnd>;
  /** At once, with no time to put anything in order. */
  kill(): void;
}

export type StartClient = (environment: Readonly<Record<string, string>>) => RunningClient;

/** A command line. Each run is a process group of its own, which is killed after `maxMs` or when the signal says so. */
export function commandClient(
  [program, ...args]: readonly string[],
  { maxMs, signal }: { readonly maxMs: number; readonly signal: AbortSignal },
): StartClient {
  if (program === undefined) {
    throw new CommandError('the command of the client comes after --, for example: -- python3 -m basa');
  }
  return (environment) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const kill = (): void => killGroup(child.pid);
    const guard = setTimeout(kill, maxMs);
    signal.addEventListener('abort', kill, { once: true });
    const ended = new Promise<ClientEnd>((resolve, reject) => {
      child.once('error', (error) => reject(new CommandError(`${program} does not start (${error.message})`)));
      child.once('close', (code) => resolve({ code, output }));
    });
    const settle = (): void => {
      clearTimeout(guard);
      signal.removeEventListener('abort', kill);
    };
    return { ended: ended.finally(settle), kill };
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended by itself
  }
}

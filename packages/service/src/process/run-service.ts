/** Runs a service as a process: starts it, drains and stops it on a signal, and says in one line why it could not start. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DatabaseUnavailable } from '../sql/postgres.ts';
import { databaseTrouble } from '../sql/postgres-format.ts';
import { EXIT, StartError } from './start-error.ts';

/** A regular stop, Ctrl-C, and a terminal that was closed. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

export interface RunningService {
  readonly url: string;
  /** Reports that it is not ready, and continues to serve for a while. */
  drain?(): Promise<void>;
  close(): Promise<void>;
}

export interface RunOptions {
  /** The prefix of its lines. */
  readonly name: string;
  readonly start: () => Promise<RunningService>;
}

/** Resolves with the exit code of the process, once the service has ended. */
export async function runService({ name, start }: RunOptions): Promise<number> {
  const stopped = stopSignal();
  let service: RunningService;
  try {
    service = await start();
  } catch (error) {
    // The database may become unavailable while the service starts.
    const told = error instanceof DatabaseUnavailable ? databaseTrouble(error.cause) : error;
    if (!(told instanceof StartError)) throw error;
    process.stderr.write(`${name}: ${told.message}\n`);
    return told.exitCode;
  }
  process.stdout.write(`${name}: listening at ${service.url}\n`);
  await stopped;
  // A second signal comes from an operator who does not want to wait.
  if (service.drain !== undefined) await Promise.race([service.drain(), stopSignal()]);
  await service.close();
  process.stdout.write(`${name}: stopped\n`);
  return EXIT.stopped;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, () => resolve());
  });
}

/** Runs it if the module is the program of this process, with the path of a configuration file as its argument. */
export async function runIfProgram(
  module: string,
  run: (places: { readonly file: string | undefined; readonly environment: NodeJS.ProcessEnv }) => Promise<number>,
): Promise<void> {
  const [, entry, file] = process.argv;
  if (entry === undefined || realpathSync(entry) !== fileURLToPath(module)) return;
  process.exitCode = await run({ file, environment: process.env });
}

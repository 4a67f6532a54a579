/** The client under test: any program that takes its settings from the environment and ends with 0 once its update is accepted. */
import { spawn } from 'node:child_process';

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

/**
 * The settings are BASA_SERVER, BASA_AUTHORITY and BASA_AUTHORITY_KEY (several with commas), BASA_TASK, BASA_ENROLMENT_TOKEN,
 * BASA_IDENTITY (the folder of the device), BASA_UPDATE (a file of little-endian float32) and BASA_PIECE_BYTES.
 */
export type StartClient = (environment: Readonly<Record<string, string>>) => RunningClient;

/** A command line. */
export function commandClient([program = '', ...args]: readonly string[]): StartClient {
  return (environment) => {
    const child = spawn(program, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const ended = new Promise<ClientEnd>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, output }));
    });
    return { ended, kill: () => void child.kill('SIGKILL') };
  };
}

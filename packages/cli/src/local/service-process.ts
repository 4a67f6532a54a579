/** Services as separate processes in one folder: started until they report their address, stopped in an orderly way or killed. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { hashOfToken } from '@basa/client/operator';
import { nodeSuite } from '@basa/runtime/node';
import { CommandError, EXIT_CODE } from '../shell/command.ts';
import { STOP_WITH_PARENT } from '../shell/process.ts';

export type Role = 'authority' | 'server';

const ROLES = { authority: ['tasks', 'enrol', 'revoke', 'admin'], server: ['operator', 'auditor'] } as const;

/** The start options of a service. */
export interface Launch {
  readonly role: Role;
  readonly config: object;
  readonly environment?: Readonly<Record<string, string>>;
  /** Modules that are loaded before it. */
  readonly preloads?: readonly string[];
}

export interface ServiceProcessesOptions {
  readonly folder: string;
  readonly operatorToken: string;
  readonly signal: AbortSignal;
  /** The arguments of `node` for a service, with the file of its configuration. */
  command(role: Role, file: string): readonly string[];
}

/** Each process has its own name, which its files in the folder have as well. */
export class ServiceProcesses {
  readonly children = new Map<string, ChildProcess>();
  readonly #options: ServiceProcessesOptions;

  constructor(options: ServiceProcessesOptions) {
    this.#options = options;
  }

  /** Returns the address on which the process reports to listen. The process is added to the children immediately. */
  start(name: string, { role, config, environment = {}, preloads = [] }: Launch): Promise<string> {
    const { folder, signal, command } = this.#options;
    const file = this.configure(name, role, config);
    const child = spawn(process.execPath, [...preloads.flatMap((path) => ['--import', path]), ...command(role, file)], {
      env: { ...process.env, ...environment, [STOP_WITH_PARENT]: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true, // Ctrl-C reaches only this process, which stops them in order
    });
    this.children.set(name, child);
    const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a', mode: 0o600 });
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
        const isTold = code !== null && code > EXIT_CODE.failed; // one sentence, and a code for the kind of trouble
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

  /** Writes the file of a configuration, with one token that has every role. */
  configure(name: string, role: Role, config: object): string {
    const { folder, operatorToken } = this.#options;
    const tokenHash = hashOfToken((bytes) => nodeSuite.sha256(bytes), operatorToken);
    const operators = [{ tokenHash, roles: ROLES[role] }];
    const file = join(folder, `${name}.json`);
    writeFileSync(file, `${JSON.stringify({ operators, ...config }, null, 2)}\n`, { mode: 0o600 });
    return file;
  }

  async stop(name: string): Promise<void> {
    const child = this.children.get(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await exit;
    clearTimeout(kill);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.children.keys()].map((name) => this.stop(name)));
  }
}

/** The names of the authorities: the first has the same name as a single one, so that a folder can continue with more of them. */
export function authorityNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => (n === 0 ? 'authority' : `authority-${n + 1}`));
}

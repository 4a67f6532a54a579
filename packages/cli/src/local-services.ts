/** Authority and server as two processes of their own on this machine, on one folder, with an operator's token. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { toHex } from '@basa/masking';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { CommandError, EXIT_CODE } from './command.ts';
import { AuthorityOperator, hashOfToken, ServerOperator } from './operator.ts';

export interface LocalServices {
  readonly authorityUrl: string;
  readonly authorityKey: string;
  readonly serverUrl: string;
  readonly serverKey: string;
  readonly operatorToken: string;
  readonly authority: AuthorityOperator;
  readonly server: ServerOperator;
  stop(): Promise<void>;
}

export interface LocalOptions {
  readonly folder: string;
  readonly signal: AbortSignal;
  /** 0 takes free ports. */
  readonly authorityPort?: number;
  readonly serverPort?: number;
  readonly unsafePaperMode?: boolean;
}

export async function startLocalServices(options: LocalOptions): Promise<LocalServices> {
  const { folder, signal, unsafePaperMode = false } = options;
  await mkdir(folder, { recursive: true });
  const { operatorToken, passphrase } = await secretsOf(folder);
  const operators = [
    { tokenHash: hashOfToken((bytes) => nodeSuite.sha256(bytes), operatorToken), roles: ['operator', 'auditor'] },
  ];
  const running: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.map(ended));
  };
  const fast = { burst: 10_000, perSecond: 10_000 };
  try {
    const authorityUrl = await launch(running, 'authority', folder, signal, {
      config: {
        dataFolder: join(folder, 'authority'),
        port: options.authorityPort ?? 0,
        operators,
        unsafePaperMode,
        keyLimit: fast,
        deviceLimit: fast,
        addressLimit: fast,
      },
      environment: { BASA_AUTHORITY_PASSPHRASE: passphrase },
    });
    const authority = new AuthorityOperator({ url: authorityUrl, token: operatorToken, signal });
    const authorityKey = await authority.publicKey();
    const serverUrl = await launch(running, 'server', folder, signal, {
      config: {
        dataFolder: join(folder, 'server'),
        port: options.serverPort ?? 0,
        operators,
        unsafePaperMode,
        authorityUrl,
        authorityKey,
        tickMs: 100,
        deviceLimit: fast,
        addressLimit: fast,
      },
      environment: {},
    });
    const server = new ServerOperator({ url: serverUrl, token: operatorToken, signal });
    const { publicKey } = await server.about();
    return { authorityUrl, authorityKey, serverUrl, serverKey: publicKey, operatorToken, authority, server, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Made once for a folder: services that were stopped go on with their data. For trying things out, not for production. */
async function secretsOf(folder: string): Promise<{ readonly operatorToken: string; readonly passphrase: string }> {
  const path = join(folder, 'secrets.json');
  const known = await readFile(path, 'utf8').catch(() => undefined);
  if (known !== undefined) return JSON.parse(known) as { operatorToken: string; passphrase: string };
  const secrets = { operatorToken: toHex(nodeRandomBytes(16)), passphrase: toHex(nodeRandomBytes(16)) };
  await writeFile(path, JSON.stringify(secrets), { mode: 0o600, flag: 'wx' });
  return secrets;
}

interface Launch {
  readonly config: object;
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts `basa <name>` and gives the address it says it listens at. Its other words go to a file. */
async function launch(
  running: ChildProcess[],
  name: 'authority' | 'server',
  folder: string,
  signal: AbortSignal,
  { config, environment }: Launch,
): Promise<string> {
  const file = join(folder, `${name}.json`);
  await writeFile(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  const main = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './main.ts' : './main.js', import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, main, name, '--config', file], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // Ctrl-C goes to us alone, and we stop them in order
  });
  running.push(child);
  const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a', mode: 0o600 });
  child.stderr?.pipe(log, { end: false });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-1000);
  });
  return new Promise((resolve, reject) => {
    const give = (why: Error): void => {
      child.kill('SIGTERM');
      reject(why);
    };
    signal.addEventListener('abort', () => give(signal.reason as Error), { once: true });
    child.once('exit', (code) =>
      give(new CommandError(`the ${name} ended with code ${code}: ${errors.trim()}`, EXIT_CODE.failed)),
    );
    lines.on('line', (line) => {
      log.write(`${line}\n`);
      const [, url] = /^\w+: listening at (https?:\S+)$/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exit;
  clearTimeout(kill);
}

/** Authorities and a server as separate processes on this machine, in one folder, with an operator's token. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AuthorityOperator, ServerOperator, tokenForAll } from '@basa/client/operator';
import { toHex } from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import { CommandError } from '../shell/command.ts';
import { localPages } from './pages.ts';
import { authorityNames, ServiceProcesses } from './service-process.ts';

export type LocalServices = Awaited<ReturnType<typeof startLocalServices>>;

interface LocalOptions {
  readonly folder: string;
  readonly signal: AbortSignal;
  /** 0 takes free ports; the second authority has the next one, and so on. */
  readonly authorityPort?: number;
  /** The number of authorities (1). */
  readonly authorities?: number;
  readonly serverPort?: number;
  readonly unsafePaperMode?: boolean;
  /** Web pages of these origins may call both services. */
  readonly corsOrigins?: readonly string[];
  /** True if pages give the tokens of `offerTokens` to every visitor. */
  readonly handsOutTokens?: boolean;
}

/** Addresses and keys of several authorities are comma-separated. */
export async function startLocalServices(options: LocalOptions) {
  const { folder, signal, unsafePaperMode = false, corsOrigins = [] } = options;
  const { authorities = 1, authorityPort = 0, serverPort = 0, handsOutTokens = false } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { operatorToken, keyFile } = await secretsOf(folder);
  const main = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : '../main.js', import.meta.url));
  const processes = new ServiceProcesses({
    folder,
    operatorToken,
    signal,
    command: (role, file) => [...process.execArgv, main, role, '--config', file],
  });
  const pages = await localPages(folder, serverPort, handsOutTokens);
  const fast = { burst: 10_000, perSecond: 10_000 };
  const common = { unsafePaperMode, deviceLimit: fast, addressLimit: fast };
  try {
    const startAuthority = (name: string, port: number): Promise<string> => {
      const origins = [...corsOrigins, ...(pages?.origins ?? [])];
      const own = { dataFolder: join(folder, name), keyFile: resolve(folder, keyFile), port, keyLimit: fast };
      return processes.start(name, { role: 'authority', config: { ...common, ...own, corsOrigins: origins } });
    };
    const authorityUrls = await Promise.all(
      authorityNames(authorities).map((name, n) => startAuthority(name, authorityPort === 0 ? 0 : authorityPort + n)),
    );
    const authorityUrl = authorityUrls.join(',');
    const authority = new AuthorityOperator({
      url: authorityUrl,
      token: tokenForAll(authorityUrl, operatorToken),
      signal,
    });
    const authorityKey = await authority.publicKey();
    const port = pages?.serverPort ?? serverPort;
    const own = { dataFolder: join(folder, 'server'), port, authorityUrl, authorityKey, tickMs: 100, corsOrigins };
    const config = { ...common, ...own, ...pages?.server };
    const serverUrl = await processes.start('server', { role: 'server', config });
    const server = new ServerOperator({ url: serverUrl, token: operatorToken, signal });
    const stop = (): Promise<void> => processes.stopAll();
    const hasPages = pages !== undefined;
    return { authorityUrl, authorityKey, serverUrl, operatorToken, authority, server, hasPages, stop };
  } catch (error) {
    await processes.stopAll();
    throw error;
  }
}

interface LocalSecrets {
  readonly operatorToken: string;
  /** The secret that seals the authorities' keys. */
  readonly keyFile: string;
}

/** Made once for each folder, so that stopped services continue with their data. For trying things out, not for production. */
async function secretsOf(folder: string): Promise<LocalSecrets> {
  const path = join(folder, 'secrets.json');
  const known = await readFile(path, 'utf8').catch(() => undefined);
  if (known !== undefined) {
    const { operatorToken, keyFile } = JSON.parse(known) as Partial<LocalSecrets>;
    if (operatorToken !== undefined && keyFile !== undefined) return { operatorToken, keyFile };
    throw new CommandError(`${folder} was made by an earlier version; choose another with --folder, or remove it`);
  }
  // Random bytes need no scrypt, which takes about a second for a passphrase at every start.
  const keyFile = 'authority.key';
  await writeFile(join(folder, keyFile), nodeRandomBytes(32), { mode: 0o600 });
  const secrets = { operatorToken: toHex(nodeRandomBytes(16)), keyFile };
  await writeFile(path, JSON.stringify(secrets), { mode: 0o600, flag: 'wx' });
  return secrets;
}

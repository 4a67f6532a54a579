/** Authorities and a server as separate processes on this machine, in one folder, with an operator's token. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AuthorityOperator, ServerOperator, tokenForAll } from '@basa/client/operator';
import { toHex } from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { ClusterOptions, LocalCluster } from './local-cluster.ts';
import { localPages } from './pages.ts';
import { authorityNames, ServiceProcesses } from './service-process.ts';

export interface LocalServices {
  /** Comma-separated for several authorities, like the keys. */
  readonly authorityUrl: string;
  readonly authorityKey: string;
  readonly serverUrl: string;
  readonly serverKey: string;
  readonly operatorToken: string;
  readonly authority: AuthorityOperator;
  readonly server: ServerOperator;
  /** True if the server serves web pages. */
  readonly hasPages: boolean;
  stop(): Promise<void>;
}

export interface LocalOptions {
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
  /** The number of server nodes on their own PostgreSQL, behind a balancer. One embedded server by default. */
  readonly nodes?: number;
  /** True if pages give the tokens of `offerTokens` to every visitor. */
  readonly handsOutTokens?: boolean;
}

export async function startLocalServices(options: LocalOptions): Promise<LocalServices> {
  const { folder, signal, unsafePaperMode = false } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { operatorToken, ...sealing } = await secretsOf(folder);
  const main = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : '../main.js', import.meta.url));
  const processes = new ServiceProcesses({
    folder,
    operatorToken,
    signal,
    command: (role, file) => [...process.execArgv, main, role, '--config', file],
  });
  let cluster: LocalCluster | undefined;
  const stop = async (): Promise<void> => {
    await processes.stopAll();
    await cluster?.stop();
  };
  const pages = await localPages(folder, options.serverPort ?? 0, options.handsOutTokens ?? false);
  const { corsOrigins = [] } = options;
  const fast = { burst: 10_000, perSecond: 10_000 };
  try {
    const startAuthority = (name: string, port: number): Promise<string> =>
      processes.start(name, {
        role: 'authority',
        config: {
          dataFolder: join(folder, name),
          ...('keyFile' in sealing && { keyFile: resolve(folder, sealing.keyFile) }),
          port,
          unsafePaperMode,
          keyLimit: fast,
          deviceLimit: fast,
          addressLimit: fast,
          corsOrigins: [...corsOrigins, ...(pages?.origins ?? [])],
        },
        environment: 'passphrase' in sealing ? { BASA_AUTHORITY_PASSPHRASE: sealing.passphrase } : {},
      });
    const { authorities = 1, authorityPort = 0 } = options;
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
    const port = pages?.serverPort ?? options.serverPort ?? 0;
    const config = {
      dataFolder: join(folder, 'server'),
      unsafePaperMode,
      authorityUrl,
      authorityKey,
      tickMs: 100,
      deviceLimit: fast,
      addressLimit: fast,
      corsOrigins,
      ...pages?.server,
    };
    const start: ClusterOptions['start'] = (name, own, environment) =>
      processes.start(name, { role: 'server', config: { ...config, ...own }, environment });
    if (options.nodes !== undefined) {
      // It loads the whole server, which the embedded case does not need here.
      const { startCluster } = await import('./local-cluster.ts');
      cluster = await startCluster({ folder, nodes: options.nodes, port, config, start });
    }
    const serverUrl = cluster?.url ?? (await start('server', { port }, {}));
    const server = new ServerOperator({ url: serverUrl, token: operatorToken, signal });
    const { publicKey } = await server.about();
    return {
      authorityUrl,
      authorityKey,
      serverUrl,
      serverKey: publicKey,
      operatorToken,
      authority,
      server,
      hasPages: pages !== undefined,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Made once for each folder, so that stopped services continue with their data. For trying things out, not for production. */
async function secretsOf(folder: string): Promise<LocalSecrets> {
  const path = join(folder, 'secrets.json');
  const known = await readFile(path, 'utf8').catch(() => undefined);
  if (known !== undefined) return JSON.parse(known) as LocalSecrets;
  // Random bytes need no scrypt, which takes about a second for a passphrase at every start.
  const keyFile = 'authority.key';
  await writeFile(join(folder, keyFile), nodeRandomBytes(32), { mode: 0o600 });
  const secrets = { operatorToken: toHex(nodeRandomBytes(16)), keyFile };
  await writeFile(path, JSON.stringify(secrets), { mode: 0o600, flag: 'wx' });
  return secrets;
}

/** The secret that seals the authority's keys: a key file in the same folder, or a passphrase in folders of earlier versions. */
type LocalSecrets = { readonly operatorToken: string } & (
  | { readonly keyFile: string }
  | { readonly passphrase: string }
);

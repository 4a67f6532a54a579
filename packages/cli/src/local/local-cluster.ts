/** Several server nodes on this machine: their own PostgreSQL, the nodes, and a balancer in front of them. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { toHex } from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import { createServerTables } from '@basa/server';
import { StartError } from '@basa/service';
import { startLocalPostgres } from '@basa/service/local-postgres';
import { CommandError, EXIT_CODE } from '../shell/command.ts';
import { type Balancer, startBalancer } from './balancer.ts';

export interface LocalCluster {
  /** The balancer's address. */
  readonly url: string;
  /** Call it after the nodes were stopped. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  readonly folder: string;
  readonly nodes: number;
  /** The balancer's. */
  readonly port: number;
  /** The configuration of every node, besides its port and its database. */
  readonly config: object;
  start(name: string, own: object, environment: Readonly<Record<string, string>>): Promise<string>;
}

export async function startCluster({ folder, nodes, port, config, start }: ClusterOptions): Promise<LocalCluster> {
  // PostgreSQL does not run as root: its user must be able to pass through this folder to its own.
  if (process.getuid?.() === 0) await chmod(folder, 0o711);
  const postgres = await startLocalPostgres({ folder: resolve(folder, 'postgres') }).catch((error: unknown) => {
    throw error instanceof StartError ? new CommandError(error.message, EXIT_CODE.failed) : error;
  });
  let balancer: Balancer | undefined;
  const stop = async (): Promise<void> => {
    await balancer?.close();
    await postgres.stop();
  };
  try {
    const environment = {
      BASA_SERVER_DATABASE_URL: await postgres.database('server'),
      BASA_SERVER_SIGNING_KEY: await signingKey(join(folder, 'signing.key')),
    };
    const own = { port: 0, blobs: 'database', trustedProxies: 1 };
    await createServerTables({ environment, overrides: { ...config, ...own } });
    const names = Array.from({ length: nodes }, (_, n) => `server-${n + 1}`);
    balancer = await startBalancer(await Promise.all(names.map((name) => start(name, own, environment))), port);
    return { url: balancer.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Made once for each folder: policies name its public half. */
async function signingKey(path: string): Promise<string> {
  const known = await readFile(path, 'utf8').catch(() => undefined);
  if (known !== undefined) return known.trim();
  const fresh = toHex(nodeRandomBytes(32));
  await writeFile(path, `${fresh}\n`, { mode: 0o600, flag: 'wx' });
  return fresh;
}

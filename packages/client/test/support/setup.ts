/** Services and clients that end with their test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { BasaClient, Contribution, Rejection } from '../../src/node/index.ts';
import { connectTo } from './connect.ts';
import { HttpServices } from './http-services.ts';
import { TestWorld, type WorldOptions } from './test-world.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

export async function startServices(
  options?: WorldOptions,
  tls?: ConstructorParameters<typeof HttpServices>[1],
): Promise<HttpServices> {
  const services = await new HttpServices(new TestWorld(options), tls).start();
  open.push(() => services.stop());
  return services;
}

export async function startClient(...args: Parameters<typeof connectTo>): Promise<BasaClient> {
  const client = await connectTo(...args);
  open.push(() => client.close());
  return client;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'basa-client-'));
  open.push(() => rmSync(folder, { recursive: true, maxRetries: 10 }));
  return folder;
}

/** The contribution; a rejection is an error here. */
export function accepted(result: Contribution | Rejection | undefined): Contribution {
  if (result?.kind === 'accepted') return result;
  throw new Error(`not accepted: ${result?.reason} ${result?.detail ?? ''}`);
}

/** The reason of a rejection. */
export function reasonOf(result: Contribution | Rejection | undefined): string {
  if (result?.kind === 'rejected') return result.reason;
  throw new Error(`not rejected: ${result?.kind}`);
}

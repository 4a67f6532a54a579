/** Services and clients that end with their test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { BasaClient, Contribution, Rejection } from '../../src/node/index.ts';
import { connectTo, deltaOf } from './connect.ts';
import { Services, type ServicesOptions } from './services.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

export async function startServices(options: ServicesOptions = {}): Promise<Services> {
  const services = await Services.open(options);
  open.push(() => services.close());
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

/** Other devices fill a batch, which makes the next version. */
export async function othersGive(services: Services, devices = services.policy.bufferSize): Promise<void> {
  const { version } = (await services.shown()).statement;
  for (let n = 0; n < devices; n++)
    accepted(await (await startClient(services)).contribute(deltaOf(n), { trainedOn: version }));
  await services.reached(version + 1);
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

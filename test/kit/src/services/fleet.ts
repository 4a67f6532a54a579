/** The honest devices that work beside the hostile ones, and tools for both. */
import { connect } from 'node:net';
import type { BasaClient } from '@basa/client/node';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { expect } from 'vitest';
import { countsOf, oneHot, type TestServices } from './test-services.ts';

/**
 * Three devices fill a batch: the next version is the sum of their updates, and nothing else. Do not use the same
 * place twice.
 */
export async function honestFleetGoesOn(
  services: TestServices,
  clients: readonly BasaClient[],
  firstPlace = 1,
): Promise<void> {
  const { version = 0 } = await services.taskState();
  const before = await services.reached(version);
  for (const [n, client] of clients.entries()) {
    await client.model();
    const result = await client.contribute(oneHot(firstPlace + n), { trainedOn: version });
    expect(result).toMatchObject({ kind: 'accepted' });
  }
  const after = await services.reached(version + 1);
  const moved = after.map((value, place) => value - (before[place] ?? 0));
  const places = countsOf(moved, clients.length).flatMap((count, place) => Array<number>(count).fill(place));
  expect(places).toEqual(clients.map((_, n) => firstPlace + n));
}

export function honestFleet(services: TestServices): Promise<readonly BasaClient[]> {
  return Promise.all(['a', 'b', 'c'].map((name) => services.client(name)));
}

/** Returns the growth of the heap during `work`, in MiB. */
export async function heapGrowthOf(work: () => Promise<void>): Promise<number> {
  const used = (): number => {
    globalThis.gc?.();
    const { heapUsed, arrayBuffers, external } = process.memoryUsage();
    return (heapUsed + arrayBuffers + external) / 2 ** 20;
  };
  const before = used();
  await work();
  return used() - before;
}

interface RawAnswer {
  /** Everything the service said until it ended the connection. */
  readonly text: string;
  readonly status: number;
}

export interface RawConnection {
  write(bytes: string | Uint8Array): void;
  /** Resolves when the service ends the connection. */
  readonly ended: Promise<RawAnswer>;
  end(): void;
}

/** A connection that can send any bytes. */
export async function rawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  const ended = new Promise<RawAnswer>((resolve) =>
    socket.once('close', () => resolve({ text, status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0) })),
  );
  await new Promise((resolve) => socket.once('connect', resolve));
  return { write: (bytes) => void socket.write(bytes), ended, end: () => socket.destroy() };
}

/** Sends a signed request of a device; returns the answer unchanged. */
export function askSigned(
  services: TestServices,
  device: ReturnType<typeof signingDevice>,
  to: 'authority' | 'server',
  target: string,
  body: string | Uint8Array,
  nonce?: Uint8Array,
): Promise<Response> {
  const { url, publicKey } = services[to];
  const words = { audience: publicKey, method: 'POST', target, body, at: services.clock(), ...(nonce && { nonce }) };
  const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream';
  const headers = { ...device.headers(words), 'content-type': type };
  return fetch(new URL(target, url), {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : body.slice(),
  });
}

export async function bytesOf(asked: Promise<Response>): Promise<Uint8Array> {
  const response = await asked;
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Enrolled devices, with their certificates. */
export async function enrolledDevices(services: TestServices, count: number, task = services.task) {
  const devices = Array.from({ length: count }, () => signingDevice());
  const deviceKeys = devices.map(({ deviceKey }) => toHex(deviceKey));
  await services.operate(services.authority.url, 'PUT', AUTHORITY_PATH.allowList(task), { deviceKeys });
  return Promise.all(
    devices.map(async (device) => {
      const asked = askSigned(services, device, 'authority', AUTHORITY_PATH.enrolments(task), '{}');
      return { device, certificate: await bytesOf(asked) };
    }),
  );
}

/** Requests to an authority over HTTP, as an operator or signed by a device. */

import { signingDevice } from '@basa/conformance/signing-device.ts';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, problemCodeOf, type TaskId, userIdOf } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Authority } from '../src/index.ts';
import { OPERATOR, time } from './homes.ts';

export interface Answer {
  readonly status: number;
  readonly bytes: Uint8Array;
  /** Of a problem document. */
  readonly code: string | undefined;
  json(): { readonly tokens?: unknown; readonly [key: string]: unknown };
}

interface Ask {
  readonly method?: string;
  readonly body?: Uint8Array | object | undefined;
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

export async function ask(
  authority: Authority,
  path: string,
  { method, body, token, headers }: Ask = {},
): Promise<Answer> {
  const isBytes = body instanceof Uint8Array;
  const answer = await fetch(authority.url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(body === undefined ? {} : { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isBytes ? Buffer.from(body) : JSON.stringify(body) }),
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const json = () => JSON.parse(Buffer.from(bytes).toString('utf8'));
  return {
    status: answer.status,
    bytes,
    code: answer.ok ? undefined : problemCodeOf(json()),
    json,
  };
}

/** Registers tokens for devices. Returns the proofs that they show this authority. */
export async function register(
  authority: Authority,
  task: TaskId,
  { count = 1, endsAt = time.now + 1000 }: { readonly count?: number; readonly endsAt?: number } = {},
): Promise<readonly string[]> {
  const proofs = Array.from({ length: count }, () => nodeRandomBytes(32));
  const hashes = proofs.map((proof) => toHex(nodeSuite.sha256(proof)));
  const { status } = await ask(authority, AUTHORITY_PATH.tokens(task), { body: { hashes, endsAt }, token: OPERATOR });
  if (status !== 200) throw new Error(`tokens were refused with ${status}`);
  return proofs.map(toHex);
}

export type Device = ReturnType<typeof signingDevice>;
export const newDevice = signingDevice;
export const userOf = (device: Device) => userIdOf(nodeSuite, device.deviceKey);

/** A request that the device signs. */
export function askAs(
  device: Device,
  authority: Authority,
  path: string,
  body: Uint8Array | object,
  more: { readonly at?: number; readonly headers?: Record<string, string> } = {},
): Promise<Answer> {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  const signed = { audience: authority.publicKey, method: 'POST', target: path, body: bytes, at: more.at ?? time.now };
  return ask(authority, path, { body, headers: { ...device.headers(signed), ...more.headers } });
}

/** Sends a body that does not say how long it is. Returns the answer, which must come before the body ends. */
export async function askWithoutLength(authority: Authority, path: string): Promise<string> {
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(64)) });
  const headers = { 'content-type': 'application/octet-stream' };
  const init = { method: 'POST', body, duplex: 'half', headers };
  return (await fetch(authority.url + path, init as RequestInit)).text();
}

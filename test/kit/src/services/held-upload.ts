/** A device that has done everything but its upload: a proxy holds the request back, so that a test can send anything instead. */
import { connect } from 'node:net';
import { type BasaClient, inMemoryStoreForTests } from '@basa/client/node';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { fromHex, type Signer, toHex } from '@basa/masking';
import { HEADER, SERVER_PATH } from '@basa/protocol/http';
import { problemCodeOf } from '@basa/protocol/internal/http/problems.ts';
import { type ShotHeader, ShotUpload, uploadNameOf } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { resigned } from '../core/one-shot/resigned.ts';
import { oneHot, type TestServices, until } from './test-services.ts';

/** No waits: a test that cuts a connection must notice at once. */
export const AT_ONCE = { attempts: 1, firstWaitMs: 1, longestWaitMs: 1, timeoutMs: 60_000 };

export interface HeldUpload {
  readonly client: BasaClient;
  readonly signer: Signer;
  /** The name of the upload. */
  readonly name: string;
  readonly target: string;
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

export async function holdUpload(services: TestServices, place: number): Promise<HeldUpload> {
  const proxy = await services.proxy();
  const signer = createNodeSigner(nodeRandomBytes(32));
  const identity = inMemoryStoreForTests(signer);
  const client = await services.client('held', { identity, server: proxy.url, retry: AT_ONCE, pieceBytes: 2 ** 30 });
  const held: HeldUpload[] = [];
  proxy.onAsk = ({ method, path, headers, body }) => {
    if (method !== 'PUT') return undefined;
    const header = fromHex(String(headers[HEADER.upload])) as Uint8Array;
    held.push({ client, signer, name: path.split('/').at(-1) ?? '', target: path, header, body });
    return 'cut';
  };
  const { dimension } = services.policy;
  await client.contribute(oneHot(place, dimension), { trainedOn: 0 }).catch(() => undefined);
  proxy.behave();
  if (held[0] === undefined) throw new Error('the device did not come to its upload');
  return held[0];
}

export interface Sent {
  readonly body?: Uint8Array | undefined;
  /** The bytes that the device signed, if they differ from the body. */
  readonly signed?: Uint8Array;
  readonly offset?: number;
  /** The length that the device signed, if it is not that of these bytes. */
  readonly length?: number | undefined;
  readonly method?: 'PUT' | 'HEAD';
  readonly target?: string;
  readonly header?: Uint8Array;
  readonly signer?: Signer;
  /** Instead of, or besides, the headers of the request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Told {
  readonly status: number;
  readonly code: string | undefined;
  readonly offset: number | undefined;
  readonly answer: unknown;
}

export function headersFor(services: TestServices, upload: HeldUpload, sent: Sent = {}): Record<string, string> {
  const { body, signed = body, method = 'PUT', offset = 0, target = upload.target, header = upload.header } = sent;
  const device = signingDevice(sent.signer ?? upload.signer);
  const words = { audience: services.server.publicKey, target, at: services.clock(), body: signed };
  return {
    ...(method === 'PUT'
      ? device.pieceHeaders({ ...words, offset, length: sent.length })
      : device.headers({ ...words, method })),
    [HEADER.upload]: toHex(header),
    ...(body !== undefined && { 'content-type': 'application/octet-stream' }),
    ...sent.headers,
  };
}

export async function send(services: TestServices, upload: HeldUpload, sent: Sent = {}): Promise<Told> {
  const { body = upload.body, method = 'PUT', target = upload.target } = sent;
  const has = method === 'PUT' ? body : undefined;
  const response = await fetch(new URL(target, services.server.url), {
    method,
    headers: headersFor(services, upload, { ...sent, body: has }),
    ...(has !== undefined && { body: has.slice() }),
  });
  return toldBy(response);
}

async function toldBy(response: Response): Promise<Told> {
  const text = await response.text();
  const answer = text === '' ? undefined : JSON.parse(text);
  const offset = response.headers.get(HEADER.uploadOffset);
  return {
    status: response.status,
    code: problemCodeOf(answer ?? {}),
    offset: offset === null ? undefined : Number(offset),
    answer,
  };
}

/** Speaks HTTP itself; resolves with the whole answer, or when the connection was cut on purpose. */
export function sendRaw(
  services: TestServices,
  which: HeldUpload,
  sent: Sent,
  parts: readonly (Uint8Array | string)[],
  isCutWhen?: () => boolean,
): Promise<string> {
  const { hostname, port } = new URL(services.server.url);
  const headers = { host: `${hostname}:${port}`, connection: 'close', ...headersFor(services, which, sent) };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (data) => {
      text += data;
      if (/\r\n\r\n[\s\S]*\}/.test(text)) socket.destroy();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write(`PUT ${which.target} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
    for (const part of parts) socket.write(part);
    if (isCutWhen !== undefined) until(isCutWhen).then(() => socket.destroy(), reject);
  });
}

/** The header of other words, signed by the same device, with the address that it names. */
export function otherHeader(services: TestServices, held: HeldUpload, change: Partial<ShotHeader>, body = held.body) {
  const upload = resigned(services.policy, held.signer, ShotUpload.decode(held.header), body, change);
  return {
    header: ShotUpload.encode(upload),
    target: SERVER_PATH.shot(services.task, toHex(uploadNameOf(nodeSuite, upload.header))),
  };
}

/** The upload with another body, signed by the same device, with the address that it names. */
export function otherBody(services: TestServices, held: HeldUpload, body: Uint8Array) {
  return { ...otherHeader(services, held, {}, body), body };
}

export const hashOf = (bytes: Uint8Array): Uint8Array => nodeSuite.sha256(bytes);

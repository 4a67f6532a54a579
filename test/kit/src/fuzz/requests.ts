/** Requests made from the OpenAPI document of a service: each address with wrong names, methods, headers and bodies. */

import { signingDevice } from '@basa/conformance/signing-device.ts';
import { type Signer, toHex } from '@basa/masking';
import { HEADER } from '@basa/protocol/http';
import fc from 'fast-check';

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface FuzzSource {
  /** The service's own description. */
  readonly document: OpenApi;
  readonly audience: Uint8Array;
  readonly operatorToken: string;
  /** Tasks, batches, join tags and versions that exist. */
  readonly names: readonly string[];
  /** Requests of honest devices: with small changes they get further than invented ones. */
  readonly sent: readonly FuzzRequest[];
  readonly bodies: readonly Uint8Array[];
  readonly uploadHeaders: readonly string[];
  /** Devices that are enrolled. */
  readonly signers: readonly Signer[];
  readonly clock: () => number;
}

interface OpenApi {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly requestBody?: { readonly content: object } }>>>
  >;
}

const METHODS = ['GET', 'POST', 'PUT', 'HEAD', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'QUERY'];
const TYPES = [
  'application/octet-stream',
  'application/json',
  'text/plain',
  'application/json; charset=utf-16',
  ';',
  '',
];

/** Made when it is sent, because a signature is valid for only some minutes. */
type Later = () => FuzzRequest;

export function fuzzRequests(source: FuzzSource): fc.Arbitrary<Later> {
  return fc.oneof({ weight: 2, arbitrary: madeUp(source) }, { weight: 1, arbitrary: changed(source) });
}

/** A request of an honest device, with one thing changed, signed by the device or another one. */
function changed(source: FuzzSource): fc.Arbitrary<Later> {
  return fc
    .record({
      sent: fc.constantFrom(...source.sent),
      body: seldom(2, bodyOf(source)),
      name: seldom(6, nameOf(source)),
      headers: seldom(6, headersOf(source)),
      stranger: seldom(6, fc.constantFrom(...source.signers)),
    })
    .map(({ sent, name, headers, stranger, ...other }) => {
      const body = other.body ?? sent.body;
      const path = name === null ? sent.path : sent.path.replace(/[0-9a-f]{64}/, encodeURIComponent(name));
      const own = source.signers.find(({ publicKey }) => toHex(publicKey) === sent.headers[HEADER.device]);
      const signer = stranger ?? own;
      const kept = Object.entries(sent.headers).filter(
        ([key]) => !/^(host|connection|content-length|transfer)/.test(key),
      );
      return () => ({
        method: sent.method,
        path,
        body,
        headers: {
          ...Object.fromEntries(kept),
          ...(signer !== undefined && signed(source, signer, { method: sent.method, target: path, body })),
          ...headers,
        },
      });
    });
}

/** A request of any kind, in proportion to the number of its variants. */
function madeUp(source: FuzzSource): fc.Arbitrary<Later> {
  const routes = Object.entries(source.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      path,
      method: method.toUpperCase(),
      type: Object.keys(requestBody?.content ?? {})[0],
    })),
  );
  return fc
    .record({
      route: fc.constantFrom(...routes),
      method: seldom(15, fc.constantFrom(...METHODS)),
      names: fc.array(nameOf(source), { minLength: 4, maxLength: 4 }),
      query: seldom(10, fc.webQueryParameters()),
      type: seldom(8, fc.constantFrom(...TYPES)),
      body: bodyOf(source),
      headers: headersOf(source),
      signer: fc.option(fc.constantFrom(...source.signers), { freq: 5 }),
      isOperator: fc.boolean(),
    })
    .map(({ route, names, query, body, headers, signer, isOperator, ...other }) => {
      const filled = route.path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(names.shift() ?? ''));
      const path = query === null ? filled : `${filled}?${query}`;
      const method = other.method ?? route.method;
      const type = other.type ?? route.type;
      return () => ({
        method,
        path,
        body,
        headers: {
          ...(type !== undefined && { 'content-type': type }),
          ...(isOperator && { authorization: `Bearer ${source.operatorToken}` }),
          ...(signer !== null && signed(source, signer, { method, target: path, body })),
          ...headers,
        },
      });
    });
}

/** Returns the value once in `times` cases, otherwise null. */
function seldom<T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: times - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

function signed(
  { audience, clock }: FuzzSource,
  signer: Signer,
  words: { readonly method: string; readonly target: string; readonly body: Uint8Array },
): Record<string, string> {
  const device = signingDevice(signer);
  const isPiece = words.method === 'PUT' && words.target.includes('/shots/');
  const asked = { ...words, audience, at: clock() };
  return isPiece ? device.pieceHeaders({ ...asked, offset: 0 }) : device.headers(asked);
}

function nameOf({ names }: FuzzSource): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: hexOf(32) },
    { weight: 1, arbitrary: fc.constantFrom('newest', '0', '1', '9999', '-1', '1e3', '..', '%00', '__proto__', '') },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
  );
}

function bodyOf({ bodies }: FuzzSource): fc.Arbitrary<Uint8Array> {
  const real = fc.constantFrom(...bodies);
  const text = fc.oneof(
    fc.json(),
    fc.jsonValue({ depthSize: 'medium' }).map((value) => JSON.stringify({ value })),
  );
  return fc.oneof(
    real,
    fc.tuple(real, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([bytes, at, flip]) => {
      const flipped = bytes.slice();
      const place = at % Math.max(1, flipped.length);
      flipped[place] = (flipped[place] ?? 0) ^ flip;
      return flipped;
    }),
    fc.tuple(real, fc.nat()).map(([bytes, at]) => bytes.slice(0, at % (bytes.length + 1))),
    fc.tuple(real, fc.uint8Array({ maxLength: 64 })).map(([bytes, more]) => Uint8Array.from([...bytes, ...more])),
    fc.uint8Array({ maxLength: 2000 }),
    fc.constant(new Uint8Array()),
    text.map((json) => new TextEncoder().encode(json)),
  );
}

function headersOf({ uploadHeaders }: FuzzSource): fc.Arbitrary<Record<string, string>> {
  const value = fc.oneof(
    hexOf(16),
    hexOf(32),
    fc.constantFrom(...uploadHeaders),
    fc.string({ unit: fc.constantFrom(...' !"$%,-./0129:;=@AZ[]^_az{}~'), maxLength: 60 }),
    fc.constantFrom('0', '-1', '999999999999999', 'NaN', 'bytes=0-', 'bytes=5-1', 'bytes=-0', 'gzip', '*'),
  );
  const names = [...Object.values(HEADER), 'range', 'if-none-match', 'content-encoding', 'accept', 'origin'];
  const some = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 });
  const upload = fc.record({
    [HEADER.upload]: fc.constantFrom(...uploadHeaders),
    [HEADER.uploadOffset]: fc.nat({ max: 100 }).map(String),
  });
  return fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, some, upload);
}

function hexOf(bytes: number): fc.Arbitrary<string> {
  return fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => Buffer.from(all).toString('hex'));
}

/**
 * Requests that a device signs (docs/http.md). Headers, time, signature and nonce are checked before a byte of the body is read; the body
 * is then checked against the digest that was signed.
 */
import { equalBytes, fromHex, toHex } from '@basa/masking';
import { millis, type UserId } from '@basa/protocol';
import { HEADER, pieceStatement, requestStatement } from '@basa/protocol/http';
import { Devices } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import type { FastifyRequest } from 'fastify';
import type { TokenBuckets } from './limits.ts';
import { fail } from './problems.ts';

export interface SigningDevice {
  /** Its Ed25519 public key. */
  readonly deviceKey: Uint8Array;
  readonly user: UserId;
  /** SHA-256 of the body, which the device declares and signs. */
  readonly digest: Uint8Array;
  /** Of a piece of an upload: its CRC-32, which the device signs with its offset and length. The route compares it. */
  readonly crc: number;
}

export interface DeviceRequestOptions {
  /** The public key of this service. */
  readonly audience: Uint8Array;
  readonly maxSkewMs: number;
  readonly maxNonces: number;
  readonly clock: () => number;
  readonly limits: TokenBuckets;
}

export interface DeviceRouteOptions {
  /** `pieces`: the route reads the body of a PUT itself and compares its checksum. */
  readonly body?: 'parsed' | 'pieces';
  /** Besides the limit for all requests of a device. */
  readonly limits?: TokenBuckets;
}

const EMPTY_DIGEST = nodeSuite.sha256();
const devices = new WeakMap<FastifyRequest, SigningDevice>();
const rememberers = new WeakMap<FastifyRequest, () => void>();
/** Requests whose body was read and has the expected digest, or whose route checks it itself. */
const settledBodies = new WeakSet<FastifyRequest>();

/** Returns the device that signed this request, for routes that require one. */
export function deviceOf(request: FastifyRequest): SigningDevice {
  const device = devices.get(request);
  if (device === undefined) throw new Error('this route does not require a device');
  return device;
}

/**
 * For routes that found the device to hold a valid certificate: from now on this very request is rejected as
 * `replayed`. Keys that anybody can make are not worth the memory: enough of them would push out the enrolled devices.
 */
export function rememberRequest(request: FastifyRequest): void {
  rememberers.get(request)?.();
}

/** Returns the `onRequest` hook of routes that only devices may use. */
export function deviceRequests(
  options: DeviceRequestOptions,
): (route?: DeviceRouteOptions) => (request: FastifyRequest) => Promise<void> {
  const { audience, maxSkewMs, maxNonces, clock, limits } = options;
  const seen = new SeenNonces({ windowMs: 2 * maxSkewMs, most: maxNonces });
  return (route = {}) =>
    async (request) => {
      const now = clock();
      const words = signedHeaders(request);
      const { at, nonce, deviceKey, digest } = words;
      if (Math.abs(now - at) > maxSkewMs) fail('clock-skew', { detail: `its time is ${new Date(now).toISOString()}` });
      const isPiece = route.body === 'pieces' && request.method === 'PUT';
      const crc = isPiece ? checkPiece(request, audience, words) : 0;
      if (!isPiece) checkSignature(request, audience, words);
      // Only requests with a valid signature are counted.
      const name = Buffer.from(nodeSuite.sha256(deviceKey, nonce).subarray(0, 16)).toString('latin1');
      if (seen.has(name, now)) fail('replayed');
      const device = toHex(deviceKey);
      const wait = limits.take(device, now) ?? route.limits?.take(device, now);
      if (wait !== undefined) fail('rate-limited', wait);
      devices.set(request, { deviceKey, user: Devices.userIdOf(nodeSuite, deviceKey), digest, crc });
      rememberers.set(request, () => seen.add(name, now));
      if (isPiece) settledBodies.add(request);
    };
}

/**
 * In `onRequest`, for bodies that only one party may send: the sender has signed the request including the digest
 * of the body, before a byte of that is read. Its clock does not matter: a replay only brings the same body again.
 */
export function checkSender(
  request: FastifyRequest,
  { audience, publicKey }: { readonly audience: Uint8Array; readonly publicKey: Uint8Array },
): void {
  const words = signedHeaders(request);
  const { deviceKey, digest } = words;
  if (!equalBytes(deviceKey, publicKey)) fail('server-unknown');
  checkSignature(request, audience, words);
  devices.set(request, { deviceKey, user: Devices.userIdOf(nodeSuite, deviceKey), digest, crc: 0 });
}

function checkSignature(
  request: FastifyRequest,
  audience: Uint8Array,
  { at, nonce, signature, deviceKey, digest }: ReturnType<typeof signedHeaders>,
): void {
  const target = targetOf(request);
  const statement = { audience, method: request.method, target, digest, at: millis(at), nonce };
  const isGood = nodeSuite.verify({ signature, message: requestStatement(statement), publicKey: deviceKey });
  if (!isGood) fail('request-signature-invalid');
}

/** Returns the CRC-32 of the piece, which the device signed with its offset and length. */
function checkPiece(
  request: FastifyRequest,
  audience: Uint8Array,
  { at, nonce, signature, deviceKey }: ReturnType<typeof signedHeaders>,
): number {
  const target = targetOf(request);
  if (request.headers['transfer-encoding'] !== undefined) fail('malformed', { detail: 'content-length is missing' });
  const offset = numberHeader(request, HEADER.uploadOffset);
  const length = numberHeader(request, 'content-length');
  const crc = new DataView(hexHeader(request, HEADER.crc, 4).buffer).getUint32(0);
  const message = pieceStatement({ audience, target, offset, length, crc, at: millis(at), nonce });
  if (!nodeSuite.verify({ signature, message, publicKey: deviceKey })) fail('request-signature-invalid');
  return crc;
}

function targetOf(request: FastifyRequest): string {
  const target = request.raw.url ?? '';
  if (!/^[\x21-\x7e]{1,1024}$/.test(target)) fail('malformed', { detail: 'target: not ASCII, or too long' });
  return target;
}

/** A number of bytes; 0 if the header is missing. */
function numberHeader(request: FastifyRequest, name: string): number {
  const text = String(request.headers[name] ?? 0);
  if (!/^\d{1,15}$/.test(text)) fail('malformed', { detail: `${name}: not a number of bytes` });
  return Number(text);
}

/** For body parsers: checks that the bytes are those the device signed, if a device signed the request. */
export function checkBodyDigest(request: FastifyRequest, bytes: Uint8Array): void {
  const device = devices.get(request);
  if (device !== undefined && !equalBytes(nodeSuite.sha256(bytes), device.digest)) fail('digest-mismatch');
  settledBodies.add(request);
}

/** After parsing: if there was no body, the digest must be that of zero bytes. */
export function checkAbsentBody(request: FastifyRequest): void {
  const device = devices.get(request);
  if (device === undefined || settledBodies.has(request)) return;
  if (!equalBytes(device.digest, EMPTY_DIGEST)) fail('digest-mismatch');
}

function signedHeaders(request: FastifyRequest) {
  for (const name of [HEADER.device, HEADER.time, HEADER.nonce, HEADER.signature]) {
    if (request.headers[name] === undefined) fail('unsigned', { detail: `the header ${name} is missing` });
  }
  return {
    deviceKey: hexHeader(request, HEADER.device, 32),
    nonce: hexHeader(request, HEADER.nonce, 16),
    signature: hexHeader(request, HEADER.signature, 64),
    at: timeHeader(request),
    digest: digestHeader(request),
  };
}

/** Returns the bytes of a header in lower-case hexadecimal. */
function hexHeader(request: FastifyRequest, name: string, length: number): Uint8Array {
  const bytes = fromHex(String(request.headers[name]));
  if (bytes?.length !== length) fail('malformed', { detail: `${name}: not ${length} bytes in lower-case hexadecimal` });
  return bytes;
}

function timeHeader(request: FastifyRequest): number {
  const text = String(request.headers[HEADER.time]);
  if (!/^\d{1,15}$/.test(text)) fail('malformed', { detail: `${HEADER.time}: not milliseconds since 1970` });
  return Number(text);
}

/** `sha-256=:<base64>:` (RFC 9530), the only digest that is accepted. */
function digestHeader(request: FastifyRequest): Uint8Array {
  const text = request.headers[HEADER.digest];
  if (text === undefined) return EMPTY_DIGEST;
  const base64 = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(String(text))?.[1];
  if (base64 === undefined) fail('malformed', { detail: `${HEADER.digest}: not sha-256=:<base64>:` });
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

// The signed requests that were received recently, as two generations of short names. A whole generation is dropped at a time.

export interface SeenNoncesOptions {
  /** The time for which a name is remembered, unless there are too many; at most twice that. */
  readonly windowMs: number;
  /** The largest number of names in memory. */
  readonly most: number;
}

export class SeenNonces {
  readonly #windowMs: number;
  readonly #maxOfGeneration: number;
  #current = new Set<string>();
  #previous = new Set<string>();
  #turnsAt = Number.NEGATIVE_INFINITY;

  constructor({ windowMs, most }: SeenNoncesOptions) {
    this.#windowMs = windowMs;
    this.#maxOfGeneration = Math.max(1, Math.floor(most / 2));
  }

  has(name: string, now: number): boolean {
    if (now >= this.#turnsAt) this.#turn(now);
    return this.#current.has(name) || this.#previous.has(name);
  }

  /** If there are too many, the older half is forgotten early. A replay of those repeats a step that changes nothing. */
  add(name: string, now: number): void {
    if (now >= this.#turnsAt || this.#current.size >= this.#maxOfGeneration) this.#turn(now);
    this.#current.add(name);
  }

  #turn(now: number): void {
    const isLongQuiet = now >= this.#turnsAt + this.#windowMs;
    this.#previous = isLongQuiet ? new Set() : this.#current;
    this.#current = new Set();
    this.#turnsAt = now + this.#windowMs;
  }
}

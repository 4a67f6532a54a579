// Requests of docs/http.md: signed by a device, with the heads of an authority's log shown and checked, a no as a Refusal.
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { must, sha256 } from './bytes.mjs';
import { isSigned } from './keys.mjs';
import * as layouts from './layouts.mjs';

/** An expected no: a problem document with its code. */
export class Refusal extends Error {
  constructor(problem) {
    super(`${problem.type ?? problem.status}: ${problem.title ?? ''} ${problem.detail ?? ''}`);
    this.code = String(problem.type).replace('urn:basa:problem:', '');
    this.retryAfterMs = problem.retryAfterMs;
  }
}

/** One service as one device sees it: its address, its pinned key, and the newest head of its log where it is an authority. */
export class Service {
  constructor(url, publicKey, isAuthority) {
    Object.assign(this, { url, publicKey, isAuthority, head: undefined });
  }

  /** @param {{ device?: object, token?: string, body?: Buffer, json?: unknown, headers?: object }} how */
  async ask(method, target, { device, token, body, json, headers = {} } = {}) {
    const sent = json === undefined ? body : Buffer.from(JSON.stringify(json));
    const type = json === undefined ? 'application/octet-stream' : 'application/json';
    const answer = await fetch(this.url + target, {
      method,
      headers: {
        ...(sent && { 'content-type': type }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(this.head && { 'basa-head': this.head.bytes.toString('hex') }),
        ...(device && this.#signature(device, method, target, sent)),
        ...headers,
      },
      body: sent,
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (this.isAuthority && this.publicKey) this.#sawHead(answer.headers.get('basa-head'));
    if (answer.ok)
      return answer.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(bytes) : bytes;
    throw new Refusal(JSON.parse(bytes));
  }

  #signature(device, method, target, body = Buffer.alloc(0)) {
    const at = Date.now();
    const nonce = randomBytes(16);
    const words = layouts.request.words({ audience: this.publicKey, method, target, digest: sha256(body), at, nonce });
    return {
      'basa-device': device.publicKey.toString('hex'),
      'basa-time': String(at),
      'basa-nonce': nonce.toString('hex'),
      ...(body.length > 0 && { 'content-digest': `sha-256=:${createHash('sha256').update(body).digest('base64')}:` }),
      'basa-signature': device.sign(words).toString('hex'),
    };
  }

  #sawHead(encoded) {
    must(encoded !== null, 'an answer of the authority without a head');
    const head = layouts.head.decode(Buffer.from(encoded, 'hex'));
    must(isSigned(this.publicKey, head.words, head.signature), 'a head that the authority did not sign');
    if (!this.head || !head.branch.equals(this.head.branch) || head.sequence > this.head.sequence) this.head = head;
  }
}

/** Asks again where the answer was "later". */
export async function patiently(question, mostMs = 30_000) {
  for (const endsAt = Date.now() + mostMs; ; ) {
    try {
      return await question();
    } catch (error) {
      const later = error instanceof Refusal && (error.retryAfterMs !== undefined || error.code === 'not-found');
      if (!later || Date.now() > endsAt) throw error;
      await wait(Math.min(error.retryAfterMs ?? 200, 2000));
    }
  }
}

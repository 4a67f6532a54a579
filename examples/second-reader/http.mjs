// Requests of docs/http.md: signed by a device, with the heads of an authority's log shown and checked, a no as a Refusal.
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { must, sha256 } from './bytes.mjs';
import { isSigned } from './keys.mjs';
import * as layouts from './layouts.mjs';

/** An expected no: a problem document with its code. */
export class Refusal extends Error {
  constructor(status, problem, headers) {
    super(`${problem.type ?? status}: ${problem.title ?? ''} ${problem.detail ?? ''}`);
    this.code = String(problem.type).replace('urn:basa:problem:', '');
    this.detail = problem.detail;
    this.retryAfterMs = problem.retryAfterMs;
    const isLater = this.retryAfterMs !== undefined || this.code === 'not-found' || this.code === 'clock-skew';
    this.passes = status === 429 || status >= 500 || isLater;
    this.offset = Number(headers.get('upload-offset'));
  }
}

/** Nothing came back, or something between said so. */
class NoAnswer extends Error {
  passes = true;
}

async function exchange(url, request) {
  try {
    const answer = await fetch(url, request);
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
  } catch (cause) {
    throw new NoAnswer(`no answer from ${url}`, { cause });
  }
}

/** One service as one device sees it: its address, its pinned key, and the newest head of its log where it is an authority. */
export class Service {
  constructor(url, publicKey, isAuthority) {
    Object.assign(this, { url, publicKey, isAuthority, head: undefined, onHead: () => {}, aheadMs: 0 });
  }

  /** @param {{ device?: object, token?: string, body?: Buffer, json?: unknown, headers?: object }} how */
  async ask(method, target, { device, token, body, json, headers = {} } = {}) {
    const sent = json === undefined ? body : Buffer.from(JSON.stringify(json));
    const type = json === undefined ? 'application/octet-stream' : 'application/json';
    const { answer, bytes } = await exchange(this.url + target, {
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
    if (this.isAuthority && this.publicKey) {
      if (answer.status >= 500 && !answer.headers.has('basa-head'))
        throw new NoAnswer(`${answer.status} without a head`);
      this.#sawHead(answer.headers.get('basa-head'));
    }
    if (answer.ok)
      return answer.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(bytes) : bytes;
    const isProblem = answer.headers.get('content-type')?.startsWith('application/problem+json');
    const refusal = new Refusal(answer.status, isProblem ? JSON.parse(bytes) : {}, answer.headers);
    if (refusal.code === 'clock-skew') this.#setClock(Number(refusal.detail));
    throw refusal;
  }

  #signature(device, method, target, body = Buffer.alloc(0)) {
    const at = Date.now() + this.aheadMs;
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

  /** The next request is signed with the service's time; a time out of range, or told twice, ends it. */
  #setClock(time) {
    must(Number.isSafeInteger(time) && time > 0 && this.aheadMs === 0, 'a time that no clock has');
    this.aheadMs = time - Date.now();
  }

  #sawHead(encoded) {
    must(encoded !== null, 'an answer of the authority without a head');
    const head = layouts.head.decode(Buffer.from(encoded, 'hex'));
    must(isSigned(this.publicKey, head.words, head.signature), 'a head that the authority did not sign');
    if (!this.head || !head.branch.equals(this.head.branch) || head.sequence > this.head.sequence) {
      this.head = head;
      this.onHead(head);
    }
  }
}

const MAX_TRIES = 40;

/** Asks again what failed on the way, signed anew, with bounded waits; an answer that does not hold is not asked for again. */
export async function patiently(question, signal) {
  for (let tries = 1; ; tries++) {
    try {
      return await question();
    } catch (error) {
      if (!error.passes || tries === MAX_TRIES || signal?.aborted) throw error;
      await wait(Math.min(2000, Math.max(50, error.retryAfterMs ?? 100 * tries)));
    }
  }
}

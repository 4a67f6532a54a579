/** Arrivals at a server that do not wait for each other. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SigningDevice, signingDevice } from '@basa/conformance/signing-device.ts';
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { enrolmentProof } from '@basa/protocol/internal/wire/devices.ts';
import { Certificate } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';

const MAX_UNDER_WAY = 2_000;
const ANSWER_MS = 30_000;

export interface Flooder {
  readonly device: SigningDevice;
  readonly certificate: Uint8Array;
}

export async function enrolled(processes: TestProcesses): Promise<Flooder> {
  const device = signingDevice();
  const [token = ''] = await processes.authority.tokens(processes.task, 1, Date.now() + 86_400_000);
  const target = AUTHORITY_PATH.enrolments(processes.task);
  const audience = fromHex(processes.authorityKey) as Uint8Array;
  const proof = enrolmentProof(nodeSuite, fromHex(token) as Uint8Array, audience);
  const body = JSON.stringify({ proof: toHex(proof) });
  const headers = device.headers({ audience, method: 'POST', target, body, at: Date.now() });
  const answer = await fetch(new URL(target, processes.urls.authority), {
    method: 'POST',
    body,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  if (!answer.ok) throw new Error(`a device could not be enrolled: ${answer.status} ${await answer.text()}`);
  const certificate = new Uint8Array(await answer.arrayBuffer());
  Certificate.decode(certificate);
  return { device, certificate };
}

/** Each device asks for a place to train, gives the place back if it gets one, and leaves. */
export class Flood {
  sent = 0;
  withoutTime = 0;
  readonly answers: Record<string, number> = {};
  readonly #processes: TestProcesses;
  readonly #flooders: readonly Flooder[];
  readonly #perSecond: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MAX_UNDER_WAY });
  #underWay = 0;

  constructor(processes: TestProcesses, flooders: readonly Flooder[], perSecond: number) {
    this.#processes = processes;
    this.#flooders = flooders;
    this.#perSecond = perSecond;
  }

  async run(ms: number): Promise<void> {
    const began = Date.now();
    while (Date.now() - began < ms) {
      const due = Math.floor(((Date.now() - began) / 1000) * this.#perSecond) - this.sent;
      for (let n = 0; n < due && this.#underWay < MAX_UNDER_WAY; n++) this.#arrive();
      await sleep(5);
    }
    while (this.#underWay > 0) await sleep(20);
    this.#agent.destroy();
  }

  #arrive(): void {
    const flooder = this.#flooders[this.sent++ % this.#flooders.length] as Flooder;
    this.#ask(flooder, 'POST', (status, time) => {
      this.answers[status] = (this.answers[status] ?? 0) + 1;
      if ((status === 429 || status === 503) && time === undefined) this.withoutTime++;
      if (status === 200) this.#ask(flooder, 'DELETE', () => {});
    });
  }

  #ask(
    { device, certificate }: Flooder,
    method: 'POST' | 'DELETE',
    tell: (status: number, retryAfter?: string) => void,
  ): void {
    const target = SERVER_PATH.admissions(this.#processes.task);
    const audience = this.#processes.policy.serverKey;
    const body = method === 'POST' ? certificate : new Uint8Array();
    const headers = device.headers({ audience, method, target, body, at: Date.now() });
    const kind = method === 'POST' ? { 'content-type': 'application/octet-stream' } : {};
    this.#underWay++;
    const asked = request(new URL(target, this.#processes.urls.server), {
      method,
      agent: this.#agent,
      timeout: ANSWER_MS,
      headers: { ...headers, ...kind, 'content-length': body.length },
    });
    let isTold = false;
    const end = (status: number, retryAfter?: string): void => {
      if (isTold) return;
      isTold = true;
      this.#underWay--;
      tell(status, retryAfter);
    };
    asked.on('response', (answer) => {
      answer.resume();
      end(answer.statusCode ?? 0, answer.headers['retry-after']);
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', () => end(0));
    asked.end(body);
  }
}

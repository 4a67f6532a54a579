/** Makes a history of what passes the balancer, and asks how buffers stand while it does. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '@basa/masking';
import {
  ctxOf,
  type Descriptor,
  drawnBufferCodec,
  HEADER,
  SERVER_PATH,
  type TaskPolicy,
  withPolicy,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { messagesOf } from '@basa/server/internal/buffers/messages.ts';
import type { Exchange } from '@basa/testkit/processes/balancer.ts';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { type Asked, faultsOf, type HistoryCall, mayHaveBegun } from './history.ts';

const LOOK_MS = 100;
const OK = 200;
/** From here on an answer does not say whether something was done. */
const TROUBLE = 500;

export class Recorder {
  readonly #history: { readonly call: HistoryCall; readonly asked: Asked }[] = [];
  readonly #asked = new Map<string, Asked>();
  /** Answers that are wrong by themselves. */
  readonly #faults: string[] = [];
  readonly #devices = new Map<string, number>();
  readonly #ended = new Set<string>();
  /** Buffers in which a device got a seat. */
  readonly #descriptors = new Map<string, Descriptor>();
  /** The task of these buffers. No device gets a seat before it is known. */
  policy: TaskPolicy | undefined;
  #isWatching = true;

  /** A question of a device, or of `watch`, and its answer. */
  note(exchange: Exchange): void {
    const { path, method, answer, headers, invokedAt: begun, returnedAt: ended } = exchange;
    const device = this.#numberOf(String(headers[HEADER.device] ?? ''));
    const asked = this.#askedBy(device, method, path);
    if (answer === undefined || answer.status >= TROUBLE) asked.unknown.push(begun);
    if (answer?.status !== OK) return;
    asked.told.push(begun);
    const call = { device, begun, ended };
    const keep = (kept: HistoryCall): void => void this.#history.push({ call: kept, asked });
    const [, ctx = '', rest = ''] = /^\/v1\/buffers\/([0-9a-f]{64})(\/.*)?$/.exec(path) ?? [];
    if (method === 'POST' && path.endsWith('/seats')) {
      const { descriptor } = drawnBufferCodec.decode(answer.body);
      const seat = toHex(ctxOf(nodeSuite, descriptor));
      if (this.policy !== undefined) this.#descriptors.set(seat, withPolicy(this.policy, descriptor));
      keep({ ...call, kind: 'seat', ctx: seat });
    } else if (method === 'POST' && rest === '/deposits') {
      const descriptor = this.#descriptors.get(ctx);
      if (descriptor === undefined) return;
      const { ticket, inbox } = messagesOf(descriptor).depositAnswer.decode(answer.body);
      keep({ ...call, kind: 'slot', ctx, slot: ticket.slot });
      if (inbox.length !== ticket.slot)
        this.#faults.push(`${inbox.length} ciphertexts for slot ${ticket.slot} of ${ctx}`);
    } else if (method === 'PUT' && rest.endsWith('/upload')) {
      const { accepted } = JSON.parse(new TextDecoder().decode(answer.body)) as { readonly accepted: boolean };
      if (accepted) keep({ ...call, kind: 'accept', ctx, slot: Number(rest.split('/')[2]) });
    } else if (method === 'GET' && ctx !== '' && rest === '') {
      const { status } = JSON.parse(new TextDecoder().decode(answer.body)) as { readonly status: string };
      keep({ ...call, kind: 'status', ctx, status });
      if (!['filling', 'frozen', 'granted', 'opened'].includes(status)) this.#ended.add(ctx);
    }
  }

  /** Asks any node about every buffer that was seen and has not ended, until it is stopped. */
  async watch({ urls, token }: TestProcesses): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    while (this.#isWatching) {
      const open = new Set(this.#history.map(({ call }) => call.ctx).filter((ctx) => !this.#ended.has(ctx)));
      const ask = (ctx: string) => fetch(new URL(SERVER_PATH.buffer(ctx), urls.server), { headers });
      await Promise.allSettled([...open].map(async (ctx) => (await ask(ctx)).arrayBuffer()));
      await sleep(LOOK_MS);
    }
  }

  stop(): void {
    this.#isWatching = false;
  }

  get calls(): number {
    return this.#history.length;
  }

  /** Calls that contradict others only by their times: their devices had asked before, without an answer. */
  explained(policy: TestProcesses['policy']): number {
    const bare = faultsOf(
      this.#history.map(({ call }) => call),
      policy.bufferSize,
    );
    return bare.length + this.#faults.length - this.faults(policy).length;
  }

  faults({ bufferSize }: TestProcesses['policy']): readonly string[] {
    const history = this.#history.map(({ call, asked }) =>
      call.kind === 'status' ? call : { ...call, begun: mayHaveBegun(call.begun, asked) },
    );
    return [...this.#faults, ...faultsOf(history, bufferSize)];
  }

  #askedBy(device: number, method: string, path: string): Asked {
    const name = `${device} ${method} ${path}`;
    const asked = this.#asked.get(name) ?? { told: [], unknown: [] };
    this.#asked.set(name, asked);
    return asked;
  }

  #numberOf(device: string): number {
    const number = this.#devices.get(device) ?? this.#devices.size;
    this.#devices.set(device, number);
    return number;
  }
}

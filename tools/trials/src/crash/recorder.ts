/** Makes a history of what passes the balancer, and asks how buffers stand while it does. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '@basa/masking';
import type { Descriptor } from '@basa/protocol';
import { ctxOf, drawnBufferCodec, HEADER, SERVER_PATH } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Exchange } from '@basa/testkit/processes/balancer.ts';
import type { Stage } from '@basa/testkit/processes/stage.ts';
import { messagesOf } from '../../../../packages/server/src/buffers/messages.ts';
import type { HistoryCall } from './history.ts';
import { faultsOf } from './history.ts';

const LOOK_MS = 100;

export class Recorder {
  readonly #history: HistoryCall[] = [];
  /** Answers that are wrong by themselves. */
  readonly #faults: string[] = [];
  readonly #devices = new Map<string, number>();
  readonly #ended = new Set<string>();
  /** Of buffers that somebody was seated in. */
  readonly #descriptors = new Map<string, Descriptor>();
  #isWatching = true;

  /** What a device, or `watch`, asked and was told. */
  note(exchange: Exchange): void {
    const { path, method, answer, headers, invokedAt: begun, returnedAt: ended } = exchange;
    if (answer?.status !== 200) return;
    const call = { device: this.#numberOf(String(headers[HEADER.device] ?? '')), begun, ended };
    const [, ctx = '', rest = ''] = /^\/v1\/buffers\/([0-9a-f]{64})(\/.*)?$/.exec(path) ?? [];
    if (method === 'POST' && path.endsWith('/seats')) {
      const { descriptor } = drawnBufferCodec.decode(answer.body);
      const seat = toHex(ctxOf(nodeSuite, descriptor));
      this.#descriptors.set(seat, descriptor);
      this.#history.push({ ...call, kind: 'seat', ctx: seat });
    } else if (method === 'POST' && rest === '/deposits') {
      const descriptor = this.#descriptors.get(ctx);
      if (descriptor === undefined) return;
      const { ticket, inbox } = messagesOf(descriptor).depositAnswer.decode(answer.body);
      this.#history.push({ ...call, kind: 'slot', ctx, slot: ticket.slot });
      if (inbox.length !== ticket.slot)
        this.#faults.push(`${inbox.length} ciphertexts for slot ${ticket.slot} of ${ctx}`);
    } else if (method === 'PUT' && rest.endsWith('/upload')) {
      const { accepted } = JSON.parse(new TextDecoder().decode(answer.body)) as { readonly accepted: boolean };
      if (accepted) this.#history.push({ ...call, kind: 'accept', ctx, slot: Number(rest.split('/')[2]) });
    } else if (method === 'GET' && ctx !== '' && rest === '') {
      const { status } = JSON.parse(new TextDecoder().decode(answer.body)) as { readonly status: string };
      this.#history.push({ ...call, kind: 'status', ctx, status });
      if (!['filling', 'frozen', 'granted'].includes(status)) this.#ended.add(ctx);
    }
  }

  /** Asks any node about every buffer that was seen and has not ended, until it is stopped. */
  async watch({ urls, token }: Stage): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    while (this.#isWatching) {
      const open = new Set(this.#history.map(({ ctx }) => ctx).filter((ctx) => !this.#ended.has(ctx)));
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

  faults({ bufferSize }: Stage['policy']): readonly string[] {
    return [...this.#faults, ...faultsOf(this.#history, bufferSize)];
  }

  #numberOf(device: string): number {
    const number = this.#devices.get(device) ?? this.#devices.size;
    this.#devices.set(device, number);
    return number;
  }
}

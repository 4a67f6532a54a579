import {
  acceptDeposit,
  acceptUpload,
  type BufferRecord,
  type BufferStep,
  type CloseAnswer,
  closeRequestOf,
  extendLeases,
  type FreezeReason,
  freezeBuffer,
  isRefused,
  judgeHeader,
  type Millis,
  modelAppendCodec,
  outboxOf,
  recordAbort,
  recordGrant,
  recordIncluded,
  recordQuarantine,
  restoreSecureBuffer,
  type SecureBuffer,
  tickBuffer,
} from '@basa/protocol';
import { ALONE, grantOf } from '../one-authority.ts';
import type { Cast } from './cast.ts';
import { endingsOf, holdToRecords } from './endings.ts';
import type { Ending, Message } from './messages.ts';
import { openStoredSum } from './open-stored-sum.ts';
import { type OpenedSum, type ServerLocal, stored, withBody, withRecords } from './server-store.ts';

const REASONS: readonly FreezeReason[] = ['resolved', 'stalled', 'expired'];
const DOWNTIME_MS = 100;

export class ServerParty {
  readonly #cast: Cast;

  constructor(cast: Cast) {
    this.#cast = cast;
  }

  initial(): ServerLocal {
    return {
      buffers: this.#cast.buffers.map(() => ({ records: [], bodies: new Map() })),
      drafts: [],
      models: [],
      forgot: 0,
    };
  }

  buffer(local: ServerLocal, buffer: number): SecureBuffer {
    const drawn = this.#cast.buffers[buffer] as Cast['buffers'][number];
    return restoreSecureBuffer(this.#cast.tools.suite, drawn, stored(local, buffer).records);
  }

  deliver(local: ServerLocal, message: Message, now: Millis): Ending<ServerLocal>[] {
    const { server: ports } = this.#cast;
    const { buffer: at } = message;
    const buffer = this.buffer(local, at);
    switch (message.kind) {
      case 'deposit': {
        const step = acceptDeposit(ports, buffer, message.value, now);
        const cause = `the deposit of user ${message.user} reaches the server${this.#of(at)}`;
        if (isRefused(step.answer)) return this.#endings(local, at, step, [], cause);
        const ticket = step.answer;
        const after = withRecords(local, at, step.records);
        const inbox = stored(after, at).records.flatMap((entry) => {
          if (entry.kind !== 'deposited' || entry.slot.ticket.slot >= ticket.slot) return [];
          const outbox = outboxOf(ports.suite, entry.deposit, entry.slot.ticket);
          return outbox[ticket.slot - entry.slot.ticket.slot - 1] ?? [];
        });
        return this.#endings(
          local,
          at,
          step,
          [{ kind: 'slot', user: message.user, buffer: at, value: { ticket, inbox } }],
          cause,
        );
      }
      case 'upload':
        return this.#upload(local, buffer, message, now);
      case 'close-answer':
        return this.#close(local, buffer, message.value, at);
      case 'model-entry':
        return this.#include(local, buffer, message);
      case 'outcome': {
        const { status } = message.value;
        if (status !== 'aborted' && status !== 'unknown') return [];
        return this.#endings(
          local,
          at,
          recordAbort(ports, buffer, [{ authority: ALONE, outcome: message.value }]),
          [],
          `the server hears "${status}"${this.#of(at)}`,
        );
      }
      default:
        return [];
    }
  }

  /** What it may do of its own accord: look at its clock, freeze, ask for close, come back after a while. */
  act(local: ServerLocal, now: Millis): Ending<ServerLocal>[] {
    return this.#cast.buffers.flatMap((_, at) => {
      const buffer = this.buffer(local, at);
      const tick = tickBuffer(buffer, now);
      return [
        ...(tick.records.length > 0 ? this.#endings(local, at, tick, [], `leases are over${this.#of(at)}`) : []),
        ...REASONS.flatMap((why) => this.#freeze(local, buffer, why, now, at)),
        ...this.#askAgain(local, buffer, at),
        ...this.#comeBack(local, buffer, at),
        ...this.#lose(local, at),
      ];
    });
  }

  #upload(
    local: ServerLocal,
    buffer: SecureBuffer,
    { user, buffer: at, value, body }: Extract<Message, { kind: 'upload' }>,
    now: Millis,
  ): Ending<ServerLocal>[] {
    const { server: ports, tools, sealings } = this.#cast;
    const received = { hash: tools.suite.sha256(body), bytes: body.length, isCanonical: true };
    const cause = `the upload of user ${user} reaches the server${this.#of(at)}`;
    if (judgeHeader(ports, buffer, value, now).kind === 'refused') return [];
    const before = withBody(local, at, value.slot, body);
    const step = acceptUpload(ports, buffer, value, received, sealings.sealing, now);
    const isNew = step.records.length > 0 && this.#cast.options.crashes;
    return [
      ...this.#endings(before, at, step, [{ kind: 'acknowledgement', user, buffer: at, value }], cause),
      ...(isNew ? [{ local: before, sent: [], words: `${cause}; the server stores the body and crashes` }] : []),
    ];
  }

  #freeze(local: ServerLocal, buffer: SecureBuffer, why: FreezeReason, now: Millis, at: number): Ending<ServerLocal>[] {
    const step = freezeBuffer(buffer, why, now);
    if (step.records.length === 0) return [];
    const request = closeRequestOf(this.#cast.server, step.state);
    if (isRefused(request)) throw new Error('a frozen buffer cannot ask for close');
    const sent: Message[] = [{ kind: 'close-request', buffer: at, value: request }];
    const cause = `the server freezes the buffer as ${why}${this.#of(at)}`;
    const endings = this.#endings(local, at, step, sent, cause);
    if (this.#cast.options.broken !== 'server asks for close before it froze') return endings;
    return [
      ...endings,
      { local, sent, words: `the server asks for close with slots ${step.state.accepted}, and did not write it down` },
    ];
  }

  /** After a crash: the same request. */
  #askAgain(local: ServerLocal, buffer: SecureBuffer, at: number): Ending<ServerLocal>[] {
    if (buffer.status !== 'frozen' && buffer.status !== 'granted') return [];
    const value = closeRequestOf(this.#cast.server, buffer);
    if (isRefused(value)) throw new Error('a frozen buffer cannot ask for close');
    return [
      {
        local,
        sent: [{ kind: 'close-request', buffer: at, value }],
        words: `the server asks for close again${this.#of(at)}`,
      },
    ];
  }

  /** The grant is written; with it on disk the sum is opened from the same answer. */
  #close(local: ServerLocal, buffer: SecureBuffer, answer: CloseAnswer, at: number): Ending<ServerLocal>[] {
    const cause = `the keys reach the server${this.#of(at)}`;
    if (buffer.status !== 'granted') {
      const grant = grantOf(this.#cast.server, buffer, answer);
      return isRefused(grant) ? [] : this.#endings(local, at, recordGrant(buffer, grant), [], cause);
    }
    const verdict = openStoredSum(this.#cast, stored(local, at), buffer, answer);
    if (verdict.kind === 'quarantine') {
      const step = recordQuarantine(buffer, verdict.why, []);
      return this.#endings(local, at, step, [], `the sum is quarantined (${verdict.why})${this.#of(at)}`);
    }
    const { signer, suite } = this.#cast.server;
    const version = local.models.length + 1;
    const body = {
      task: this.#cast.task,
      version,
      modelHash: suite.sha256(Uint8Array.of(version, at)),
      ctx: buffer.ctx,
      closed: [],
    };
    const value = { ...body, signature: signer.sign(modelAppendCodec.statement(body)) };
    const words = `the server opens the sum${this.#of(at)} and asks to log version ${version}`;
    const draft: OpenedSum = { buffer: at, version, sum: [...verdict.sum] };
    const drafts = [...local.drafts.filter(({ buffer: other }) => other !== at), draft];
    return [{ local: { ...local, drafts }, sent: [{ kind: 'append', buffer: at, value }], words }];
  }

  /** The sum and "included" in one transaction. */
  #include(
    local: ServerLocal,
    buffer: SecureBuffer,
    { buffer: at, value: { version } }: Extract<Message, { kind: 'model-entry' }>,
  ): Ending<ServerLocal>[] {
    const draft = local.drafts.find((opened) => opened.buffer === at && opened.version === version);
    if (buffer.status !== 'granted' || draft === undefined || version !== local.models.length + 1) return [];
    const step = recordIncluded(buffer, version);
    const drafts = local.drafts.filter((opened) => opened !== draft);
    const after = withRecords({ ...local, drafts, models: [...local.models, draft] }, at, step.records);
    holdToRecords('the server', step.state, this.buffer(after, at));
    return [{ local: after, sent: [], words: `the server applies the sum${this.#of(at)} as version ${version}` }];
  }

  /** The server was down for longer than a lease: every lease is as much longer. Once. */
  #comeBack(local: ServerLocal, buffer: SecureBuffer, at: number): Ending<ServerLocal>[] {
    const isWorthIt =
      buffer.status === 'filling' &&
      buffer.slots.every(({ graceMs }) => graceMs === 0) &&
      buffer.slots.some(({ status }) => status === 'assigned');
    if (!this.#cast.options.crashes || !isWorthIt) return [];
    return this.#endings(
      local,
      at,
      extendLeases(buffer, DOWNTIME_MS),
      [],
      `the server was down for a while${this.#of(at)}`,
    );
  }

  #lose(local: ServerLocal, at: number): Ending<ServerLocal>[] {
    const { records } = stored(local, at);
    const isLost = this.#cast.options.broken === 'server loses its last record' && local.forgot === 0;
    if (!isLost || records.length === 0) return [];
    const buffers = local.buffers.map((kept, n) => (n === at ? { ...kept, records: records.slice(0, -1) } : kept));
    return [
      {
        local: { ...local, buffers, forgot: 1 },
        sent: [],
        words: `the server crashes and has lost "${records.at(-1)?.kind}"`,
      },
    ];
  }

  #endings<Answer extends object>(
    local: ServerLocal,
    at: number,
    step: BufferStep<Answer>,
    sent: readonly Message[],
    cause: string,
  ): Ending<ServerLocal>[] {
    const { crashes, broken } = this.#cast.options;
    const after = (records: readonly BufferRecord[]): ServerLocal => withRecords(local, at, records);
    holdToRecords('the server', step.state, this.buffer(after(step.records), at));
    const { records, answer } = step;
    const answersFirst = broken === 'server answers before it writes';
    return endingsOf({ who: 'the server', cause, records, answer, sent, after, crashes, answersFirst });
  }

  #of(buffer: number): string {
    return this.#cast.buffers.length > 1 ? ` (buffer ${buffer})` : '';
  }
}

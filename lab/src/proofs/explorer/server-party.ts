/** The server of an exploration: the federation's, started from its records before every step. */
import {
  agreedOn,
  type CloseAnswerOf,
  closeRequestOf,
  closeSteps,
  extendLeases,
  type FreezeReason,
  isRefused,
  type Millis,
  modelAppendCodec,
  modelEntryCodec,
  type Refused,
  recordAbort,
  recordGrant,
  recordIncluded,
  recordQuarantine,
  type SecureBuffer,
  tickBuffer,
  votesFor,
} from '@basa/protocol';
import { type FederationServer, granted, OPEN_MS } from '@basa/simulator';
import { endingsOf, type Party, type Said } from './endings.ts';
import { type ExploredWorld, inBuffer } from './explored-world.ts';
import { type Ending, type Message, type MessageOf, ofKind } from './messages.ts';
import { type OpenedSum, ServerDisk, type ServerLocal, type StoredBuffer } from './server-disk.ts';

type Endings = readonly Ending<ServerLocal>[];

const REASONS: readonly FreezeReason[] = ['resolved', 'stalled', 'expired'];
const DOWNTIME_MS = OPEN_MS;

export class ServerParty {
  readonly #world: ExploredWorld;
  readonly #server: FederationServer;
  readonly #disk: ServerDisk;
  readonly #initial: ServerLocal;

  constructor(world: ExploredWorld) {
    this.#world = world;
    this.#server = world.federation.server;
    this.#disk = new ServerDisk(world);
    this.#initial = this.#disk.save({ buffers: [], drafts: [], models: [], forgot: 0 });
  }

  initial(): ServerLocal {
    return this.#initial;
  }

  /** A frozen buffer has asked for its close before the exploration begins. */
  said(): readonly Message[] {
    this.#disk.load(this.#initial);
    return this.#world.buffers.flatMap(({ ctx }, at) =>
      this.#server.buffer(ctx).status === 'frozen' ? [this.#closeRequest(at)] : [],
    );
  }

  buffersOf(local: ServerLocal): readonly SecureBuffer[] {
    this.#disk.load(local);
    return this.#world.buffers.map(({ ctx }) => this.#server.buffer(ctx));
  }

  /** Messages of one kind: one, or those of several authorities. */
  deliver(local: ServerLocal, messages: readonly Message[], now: Millis): Endings {
    const [first] = messages;
    if (first === undefined) return [];
    const at = first.buffer;
    this.#world.federation.now = now;
    this.#disk.load(local);
    switch (first.kind) {
      case 'deposit': {
        const { user } = first;
        return this.#endings(local, at, `the deposit of user ${user} reaches the server`, () => {
          const answer = this.#server.takeDeposit(first.value);
          return { answer, sent: isRefused(answer) ? [] : [{ kind: 'slot', user, buffer: at, value: answer }] };
        });
      }
      case 'upload':
        return this.#upload(local, first);
      case 'close-answer':
        return this.#close(
          local,
          at,
          ofKind(messages, 'close-answer').map(({ from, value }) => ({ authority: from, answer: value })),
        );
      case 'model-entry':
        return this.#include(local, at, ofKind(messages, 'model-entry'));
      case 'outcome': {
        const { status } = first.value;
        if (status !== 'aborted' && status !== 'unknown') return [];
        const outcomes = ofKind(messages, 'outcome').map(({ from, value }) => ({ authority: from, outcome: value }));
        return this.#endings(local, at, `the server hears "${status}"`, () =>
          this.#written(at, recordAbort(this.#server.ports, this.#disk.buffer(at), outcomes)),
        );
      }
      default:
        return [];
    }
  }

  /** Its own actions: look at its clock, freeze, request a close, come back after a while. */
  act(local: ServerLocal, now: Millis): Endings {
    this.#world.federation.now = now;
    return this.#world.buffers.flatMap((_, at) => {
      this.#disk.load(local);
      const buffer = this.#disk.buffer(at);
      const isOver = tickBuffer(buffer, now).records.length > 0;
      const over = (): Said => this.#written(at, tickBuffer(this.#disk.buffer(at), now));
      return [
        ...(isOver ? this.#endings(local, at, 'leases are over', over) : []),
        ...REASONS.flatMap((why) => this.#freeze(local, at, why)),
        ...this.#askAgain(local, buffer, at),
        ...this.#comeBack(local, buffer, at),
        ...this.#lose(local, at),
      ];
    });
  }

  #upload(local: ServerLocal, { user, buffer: at, value, body }: MessageOf<'upload'>): Endings {
    const cause = `the upload of user ${user} reaches the server`;
    const endings = this.#endings(local, at, cause, () => {
      const answer = this.#server.takeUpload(value, body);
      return { answer, sent: isRefused(answer) ? [] : [{ kind: 'acknowledgement', user, buffer: at, value }] };
    });
    const [{ local: after } = { local }] = endings;
    const isNew = this.#world.options.crashes && after.buffers[at]?.records !== local.buffers[at]?.records;
    if (!isNew) return endings;
    const bodies = after.buffers[at]?.bodies ?? new Map();
    const stored = local.buffers.map((kept, n) => (n === at ? { ...kept, bodies } : kept));
    const words = `${cause}${inBuffer(this.#world, at)}; the server stores the body and crashes`;
    return [...endings, { local: { ...local, buffers: stored }, sent: [], words }];
  }

  #freeze(local: ServerLocal, at: number, why: FreezeReason): Endings {
    const cause = `the server freezes the buffer as ${why}`;
    const endings = this.#endings(local, at, cause, () => {
      const answer = this.#server.freeze(this.#disk.ctx(at), why);
      return { answer, sent: isRefused(answer) ? [] : [this.#closeRequest(at)] };
    }).filter(({ local: after }) => after !== local && after.buffers[at]?.records !== local.buffers[at]?.records);
    const [frozen] = endings;
    if (frozen === undefined || this.#world.options.broken !== 'server asks for close before it froze') return endings;
    const [asked] = ofKind(frozen.sent, 'close-request');
    const words = `the server asks for close with slots ${asked?.value.accepted}, and did not write it down`;
    return [...endings, { local, sent: frozen.sent, words }];
  }

  /** After a crash: the same request. */
  #askAgain(local: ServerLocal, { status }: SecureBuffer, at: number): Endings {
    if (status !== 'frozen' && status !== 'granted') return [];
    this.#disk.load(local);
    const words = `the server asks for close again${inBuffer(this.#world, at)}`;
    return [{ local, sent: [this.#closeRequest(at)], words }];
  }

  #closeRequest(at: number): Message {
    const value = granted(closeRequestOf(this.#server.ports, this.#disk.buffer(at)));
    return { kind: 'close-request', buffer: at, value };
  }

  /** The grant is written; with it on disk the sum is opened from the same answers. */
  #close(local: ServerLocal, at: number, answers: readonly CloseAnswerOf[]): Endings {
    const { ports } = this.#server;
    const cause = 'the keys reach the server';
    if (this.#disk.buffer(at).status === 'granted') return this.#open(local, at, answers);
    const steps = closeSteps(ports, this.#disk.buffer(at));
    if (steps.next().done) return [];
    const { done, value } = steps.next(answers);
    if (!done) {
      const words = `the votes reach the server, and it asks for the keys${inBuffer(this.#world, at)}`;
      return [{ local, sent: [{ kind: 'close-request', buffer: at, value }], words }];
    }
    if (isRefused(value)) return [];
    return this.#endings(local, at, cause, () => this.#written(at, recordGrant(this.#disk.buffer(at), value)));
  }

  #open(local: ServerLocal, at: number, answers: readonly CloseAnswerOf[]): Endings {
    const { federation } = this.#world;
    const { ports } = this.#server;
    const keys = answers.map(({ authority, answer }) => ({ authority, keys: answer.keys }));
    if (keys.filter((one) => one.keys.length > 0).length < federation.policy.threshold) return [];
    const verdict = this.#server.openSum(this.#disk.ctx(at), keys);
    if (verdict.kind === 'quarantine')
      return this.#endings(local, at, `the sum is quarantined (${verdict.why})`, () =>
        this.#written(at, recordQuarantine(this.#disk.buffer(at), verdict.why, [])),
      );
    const version = local.models.length + 1;
    const body = {
      task: federation.task,
      version,
      modelHash: ports.suite.sha256(Uint8Array.of(version, at)),
      sums: [this.#disk.ctx(at)],
      spoilt: [],
      closed: votesFor(ports, this.#disk.buffer(at)),
    };
    const value = { ...body, signature: ports.signer.sign(modelAppendCodec.statement(body)) };
    const words = `the server opens the sum${inBuffer(this.#world, at)} and asks to log version ${version}`;
    const draft: OpenedSum = { buffer: at, version, sum: [...verdict.sum] };
    const drafts = [...local.drafts.filter(({ buffer: other }) => other !== at), draft];
    return [{ local: { ...local, drafts }, sent: [{ kind: 'append', buffer: at, value }], words }];
  }

  /** The sum and "included" in one transaction; then the other authorities are shown the entry. */
  #include(local: ServerLocal, at: number, entries: readonly MessageOf<'model-entry'>[]): Endings {
    const { policy } = this.#world.federation;
    const signed = entries.map(({ value }) => value);
    const entry = agreedOn(modelEntryCodec, policy, signed);
    const draft = local.drafts.find((opened) => opened.buffer === at && opened.version === entry?.version);
    const isNext = entry !== undefined && entry.version === local.models.length + 1;
    if (this.#disk.buffer(at).status !== 'granted' || draft === undefined || !isNext) return [];
    const drafts = local.drafts.filter((opened) => opened !== draft);
    const opened = { ...local, drafts, models: [...local.models, draft] };
    const [included] = this.#endings(opened, at, `the server applies the sum as version ${entry.version}`, () =>
      this.#written(at, recordIncluded(this.#disk.buffer(at), entry.version)),
    );
    const sent: Message[] = policy.threshold > 1 ? [{ kind: 'adopt', buffer: at, value: entry }] : [];
    return included === undefined ? [] : [{ ...included, sent }];
  }

  /** The server was down for longer than a lease: every lease is extended by the downtime. Once. */
  #comeBack(local: ServerLocal, { status, slots }: SecureBuffer, at: number): Endings {
    const isWorthIt =
      status === 'filling' &&
      slots.every(({ graceMs }) => graceMs === 0) &&
      slots.some((slot) => slot.status === 'assigned');
    if (!this.#world.options.crashes || !isWorthIt) return [];
    return this.#endings(local, at, 'the server was down for a while', () =>
      this.#written(at, extendLeases(this.#disk.buffer(at), DOWNTIME_MS)),
    );
  }

  #lose(local: ServerLocal, at: number): Endings {
    const { records } = local.buffers[at] as StoredBuffer;
    const isLost = this.#world.options.broken === 'server loses its last record' && local.forgot === 0;
    if (!isLost || records.length === 0) return [];
    const buffers = local.buffers.map((kept, n) => (n === at ? { ...kept, records: records.slice(0, -1) } : kept));
    const words = `the server crashes and has lost "${records.at(-1)?.kind}"`;
    return [{ local: { ...local, buffers, forgot: 1 }, sent: [], words }];
  }

  #endings(local: ServerLocal, at: number, cause: string, run: () => Said): Endings {
    const { federation, options } = this.#world;
    const before = local.buffers[at]?.records.length ?? 0;
    const party: Party<ServerLocal> = {
      name: 'the server',
      load: (from) => this.#disk.load(from),
      save: () => this.#disk.save(local),
      written: () =>
        this.#disk
          .records(at)
          .slice(before)
          .map(({ kind }) => kind),
      live: () => this.#disk.buffer(at),
    };
    const answersFirst = options.broken === 'server answers before it writes';
    const words = `${cause}${inBuffer(this.#world, at)}`;
    return endingsOf({ federation, party, local, cause: words, run, crashes: options.crashes, answersFirst });
  }

  #written(at: number, step: Parameters<FederationServer['persist']>[1]): Said {
    return { answer: this.#server.persist(this.#disk.buffer(at), step) as object | Refused, sent: [] };
  }
}

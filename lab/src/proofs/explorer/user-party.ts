/** A user of an exploration: a device of the federation, with a session for each buffer, started from its records before every step. */
import {
  abandonSession,
  isRefused,
  type LedgerRecord,
  releaseSession,
  restoreLedger,
  type UserRecord,
  type UserSession,
} from '@basa/protocol';
import { endingsOf, type Party, type Said } from './endings.ts';
import { type ExploredDevice, type ExploredWorld, inBuffer } from './explored-world.ts';
import { type Ending, type Message, ofKind } from './messages.ts';

export interface UserLocal {
  /** The records of its session in each buffer. */
  readonly sessions: readonly (readonly UserRecord[])[];
  /** The buffers that the user entered, and the buffers that got its update. */
  readonly ledger: readonly LedgerRecord[];
  /** The number of times it forgot something: its later draws are fresh. */
  readonly forgot: number;
}

type Endings = readonly Ending<UserLocal>[];

export class UserParty {
  readonly #world: ExploredWorld;
  readonly #device: ExploredDevice;
  readonly #input: Uint32Array;

  constructor(world: ExploredWorld, number: number) {
    this.#world = world;
    this.#device = world.users[number] as ExploredDevice;
    const [{ descriptor }] = world.buffers as [ExploredWorld['buffers'][number]];
    const built = this.#device.buildVector(descriptor, this.#device.oneHot(), descriptor.version);
    if (built.kind === 'refused') throw new Error(built.reason);
    this.#input = built.vector;
  }

  get name(): string {
    return `user ${this.#device.number}`;
  }

  /** On its way to buffer 0. */
  initial(): Ending<UserLocal> {
    const nothing: UserLocal = { sessions: this.#world.buffers.map(() => []), ledger: [], forgot: 0 };
    return this.#enter(nothing, 0)[0] as Ending<UserLocal>;
  }

  /** Messages of one kind: one, or those of several authorities. */
  deliver(local: UserLocal, messages: readonly Message[]): Endings {
    const [first] = messages;
    if (first === undefined) return [];
    const { buffer } = first;
    const device = this.#device;
    const what = first.kind === 'outcome' ? `the outcome "${first.value.status}"` : `its ${first.kind}`;
    const cause = `${this.name} gets ${what}${inBuffer(this.#world, buffer)}`;
    const step = (name: string, run: () => Said): Endings => this.#endings(local, buffer, name, cause, run);
    const at = this.#load(local, buffer)?.step;
    switch (first.kind) {
      case 'slot':
        return at === undefined
          ? []
          : step('slot', () => ({ answer: device.takeSlot(first.value), sent: this.#next(buffer) }));
      case 'key': {
        const answers = ofKind(messages, 'key').map(({ from, value }) => ({ authority: from, answer: value }));
        if (at !== 'slotted' || isRefused(device.takeKeys(answers))) return [];
        return step('key', () => {
          device.takeKeys(answers);
          return { answer: device.upload(), sent: this.#next(buffer) };
        });
      }
      case 'acknowledgement':
        return at === undefined ? [] : step('ack', () => ({ answer: device.acknowledge(), sent: [] }));
      case 'outcome':
        return this.#learn(local, buffer, messages, cause);
      default:
        return [];
    }
  }

  /** Its own actions. */
  act(local: UserLocal): Endings {
    return this.#world.buffers
      .flatMap((_, buffer) => [
        ...this.#sendAgain(local, buffer),
        ...this.#leave(local, buffer),
        ...(this.#mayEnter(local, buffer) ? this.#enter(local, buffer) : []),
      ])
      .concat(this.#forget(local));
  }

  #enter(local: UserLocal, buffer: number): Endings {
    const drawn = this.#world.buffers[buffer] as ExploredWorld['buffers'][number];
    const cause = `${this.name} prepares its deposit${inBuffer(this.#world, buffer)}`;
    const endings = this.#endings(local, buffer, 'prepare', cause, () => {
      const no = this.#device.enter(drawn, { model: drawn.descriptor });
      return no === undefined ? { answer: {}, sent: this.#next(buffer) } : { answer: no, sent: [] };
    });
    return endings.filter(({ local: after }) => after !== local);
  }

  /** After a crash it sends the message that it was about to send: the same bytes, made from its records. */
  #sendAgain(local: UserLocal, buffer: number): Endings {
    if (!this.#world.options.crashes) return [];
    this.#load(local, buffer);
    this.#device.begin('again');
    return this.#next(buffer).map((message) => ({
      local,
      sent: [message],
      words: `${this.name} sends its ${message.kind} again${inBuffer(this.#world, buffer)}`,
    }));
  }

  /** Returns its next messages in its current state. */
  #next(buffer: number): readonly Message[] {
    const device = this.#device;
    const { number: user } = device;
    switch (device.session?.step) {
      case 'prepared':
        return [{ kind: 'deposit', user, buffer, value: device.deposit() }];
      case 'slotted':
        return device.keyAnswers === undefined
          ? [{ kind: 'key-request', user, buffer, value: device.keyRequest() }]
          : [];
      case 'frozen': {
        const made = device.upload();
        return made.kind === 'refused' ? [] : [{ kind: 'upload', user, buffer, value: made.header, body: made.body }];
      }
      default:
        return [];
    }
  }

  #learn(local: UserLocal, buffer: number, messages: readonly Message[], cause: string): Endings {
    const device = this.#device;
    if (this.#load(local, buffer) === undefined) return [];
    device.release(ofKind(messages, 'outcome').map(({ from, value }) => ({ authority: from, outcome: value })));
    if (device.ledgerRecords.length === local.ledger.length) return [];
    device.persist(releaseSession(device.ports, device));
    const words = `${cause}; its update is free for another buffer`;
    return [{ local: this.#save(local, buffer), sent: [], words }];
  }

  #leave(local: UserLocal, buffer: number): Endings {
    const device = this.#device;
    const at = this.#load(local, buffer)?.step;
    if (this.#world.options.still || (at !== 'prepared' && at !== 'slotted')) return [];
    device.persist(abandonSession(device.ports, device, 'abandoned'));
    const words = `${this.name} leaves the buffer${inBuffer(this.#world, buffer)} for good`;
    return [{ local: this.#save(local, buffer), sent: [], words }];
  }

  /** It may enter another buffer once its last one is finished; the core decides whether its update may go there. */
  #mayEnter(local: UserLocal, buffer: number): boolean {
    if (local.sessions[buffer]?.length !== 0) return false;
    if (buffer === 0) return local.forgot > 0;
    const last = this.#load(local, buffer - 1)?.step;
    return last !== undefined && last !== 'prepared' && last !== 'slotted';
  }

  /** It loses its records, in a world that breaks this rule. */
  #forget(local: UserLocal): Endings {
    const { broken } = this.#world.options;
    if (local.forgot > 0) return [];
    const ledger = local.ledger.filter(({ kind }) => kind !== 'committed');
    if (broken === 'user forgets where its update went' && ledger.length < local.ledger.length)
      return [
        { local: { ...local, ledger, forgot: 1 }, sent: [], words: `${this.name} forgets where its update went` },
      ];
    if (broken !== 'user forgets its last record') return [];
    return local.sessions.flatMap((records, buffer) => {
      const lost = records.at(-1)?.kind;
      if (records.length < 2) return [];
      const sessions = local.sessions.map((all, n) => (n === buffer ? all.slice(0, -1) : all));
      // Records that became durable together are lost together.
      const after = { ...local, sessions, ledger: lost === 'frozen' ? ledger : local.ledger, forgot: 1 };
      return [{ local: after, sent: [], words: `${this.name} crashes and has lost "${lost}"` }];
    });
  }

  #endings(local: UserLocal, buffer: number, name: string, cause: string, run: () => Said): Endings {
    const { federation, options } = this.#world;
    const device = this.#device;
    const party: Party<UserLocal> = {
      name: 'it',
      load: (from) => {
        this.#load(from, buffer);
        device.begin(`${buffer} ${name} ${from.forgot}`);
      },
      save: () => this.#save(local, buffer),
      written: () => device.records.slice(local.sessions[buffer]?.length).map(({ kind }) => kind),
      live: () => [device.ledger, device.session],
    };
    const said = (): Said => {
      const { answer, sent } = run();
      return { answer, sent: isRefused(answer) ? [] : sent };
    };
    return endingsOf({ federation, party, local, cause, run: said, crashes: options.crashes });
  }

  /** The device in this buffer, as after a restart. */
  #load(local: UserLocal, buffer: number): UserSession | undefined {
    const device = this.#device;
    const [start] = this.#world.serverHours;
    // A user's clock stands still: the others' clocks decide whether it is late.
    if (start !== undefined) this.#world.federation.now = start.now;
    device.records = [...(local.sessions[buffer] ?? [])];
    device.ledgerRecords = [...local.ledger];
    device.ledger = restoreLedger(local.ledger);
    device.input = this.#input;
    device.restart();
    return device.session;
  }

  #save(before: UserLocal, buffer: number): UserLocal {
    const { records, ledgerRecords } = this.#device;
    const sessions = before.sessions.map((own, n) => (n === buffer ? [...records] : own));
    return { ...before, sessions, ledger: [...ledgerRecords] };
  }
}

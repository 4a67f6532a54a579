/** An authority of an exploration: the federation's, rebuilt from its log before every step. */
import {
  AttributeAuthority,
  type AuthorityBuffer,
  type AuthorityRecord,
  type AuthorityStep,
  isRefused,
  type Millis,
} from '@basa/protocol';
import type { FederationAuthority } from '@basa/simulator';
import { canonical } from './canonical.ts';
import { endingsOf, type Party } from './endings.ts';
import { type ExploredWorld, inBuffer } from './explored-world.ts';
import { type Ending, type Message, RestoreError } from './messages.ts';

export interface AuthorityLocal {
  /** The log after its genesis. */
  readonly log: readonly AuthorityRecord[];
  readonly rolledBack: boolean;
}

type Endings = readonly Ending<AuthorityLocal>[];

export class AuthorityParty {
  readonly #world: ExploredWorld;
  readonly #authority: FederationAuthority;
  readonly #genesis: readonly AuthorityRecord[];

  constructor(world: ExploredWorld, index: number) {
    this.#world = world;
    this.#authority = world.federation.authorities[index] as FederationAuthority;
    this.#genesis = world.genesis[index] ?? [];
  }

  get name(): string {
    return this.#world.genesis.length === 1 ? 'the authority' : `authority ${this.#authority.index}`;
  }

  initial(): AuthorityLocal {
    return { log: [], rolledBack: false };
  }

  buffersOf(local: AuthorityLocal): readonly AuthorityBuffer[] {
    const core = this.#core(local);
    return this.#world.buffers.map(({ ctx }) => {
      const found = core.buffer(ctx);
      if (found === undefined) throw new Error('the authority lost a buffer');
      return found;
    });
  }

  deliver(local: AuthorityLocal, message: Message, now: Millis): Endings {
    const { buffer } = message;
    const from = this.#authority.index;
    const of = inBuffer(this.#world, buffer);
    switch (message.kind) {
      case 'key-request': {
        const { user, value } = message;
        const cause = `the key request of user ${user} reaches ${this.name}${of}`;
        return this.#step(
          local,
          cause,
          (core) => core.issueKey(value, now),
          (answer) => [{ kind: 'key', user, from, buffer, value: answer }],
        );
      }
      case 'close-request': {
        const { accepted, votes } = message.value;
        const shown = votes.length > 0 ? ` and ${votes.length} votes` : '';
        const cause = `the request to close with slots ${accepted}${shown} reaches ${this.name}${of}`;
        return this.#step(
          local,
          cause,
          (core) => core.close(message.value, now),
          (value) => [{ kind: 'close-answer', from, buffer, value }],
        );
      }
      case 'append': {
        const cause = `version ${message.value.version} reaches ${this.name}${of}`;
        return this.#step(
          local,
          cause,
          (core) => core.appendModel(message.value),
          (value) => [{ kind: 'model-entry', from, buffer, value }],
        );
      }
      case 'adopt': {
        const cause = `version ${message.value.version}, signed, reaches ${this.name}${of}`;
        return this.#step(
          local,
          cause,
          (core) => core.adoptModel(message.value),
          () => [],
        );
      }
      default:
        return [];
    }
  }

  /** A party asks for an outcome, the authority looks at its clock, or it comes back with an older log. */
  act(local: AuthorityLocal, now: Millis): Endings {
    const from = this.#authority.index;
    const asked = this.#world.buffers.flatMap(({ ctx }, buffer) => {
      const cause = `somebody asks ${this.#world.genesis.length === 1 ? '' : `${this.name} `}for the outcome${inBuffer(this.#world, buffer)}`;
      return this.#step(
        local,
        cause,
        (core) => core.outcome(ctx, now),
        (value) => (value.status === 'open' ? [] : [{ kind: 'outcome', from, buffer, value }]),
      );
    });
    const tick = this.#step(
      local,
      `${this.name} looks at its clock`,
      (core) => core.tick(now),
      () => [],
    );
    return [...asked, ...tick, ...this.#rollBack(local)];
  }

  /** The newest record is lost. The witness, kept elsewhere, still has the head of the full log. */
  #rollBack(local: AuthorityLocal): Endings {
    const { rollback, broken } = this.#world.options;
    const hasNoWitness = broken === 'authority starts without its witness';
    if (local.rolledBack || local.log.length === 0 || !(rollback || hasNoWitness)) return [];
    const lost = local.log.at(-1)?.kind;
    const older: AuthorityLocal = { log: local.log.slice(0, -1), rolledBack: true };
    const words = `the authority crashes and has lost "${lost}"`;
    if (hasNoWitness) return [{ local: older, sent: [], words: `${words}; it starts as if nothing had happened` }];
    const { records } = this.#core(older).start(
      this.#core(local).head(),
      new Uint8Array(16).fill(1),
      this.#world.federation.now,
    );
    const after: AuthorityLocal = { ...older, log: [...older.log, ...records] };
    return [{ local: after, sent: [], words: `${words}; its witness shows it, and it trusts no open buffer` }];
  }

  #step<Answer extends object>(
    local: AuthorityLocal,
    cause: string,
    decide: (core: AttributeAuthority) => AuthorityStep<Answer>,
    sentWith: (answer: Answer) => readonly Message[],
  ): Endings {
    const { federation, options } = this.#world;
    const authority = this.#authority;
    const length = this.#genesis.length + local.log.length;
    const party: Party<AuthorityLocal> = {
      name: this.name,
      load: (from) => {
        authority.log = [...this.#genesis, ...from.log];
        authority.core = this.#core(from);
      },
      save: () =>
        authority.log.length === length ? local : { ...local, log: authority.log.slice(this.#genesis.length) },
      written: () => authority.log.slice(length).map(({ kind }) => kind),
      live: () => this.#look(authority.core),
    };
    const run = () => {
      const step = decide(authority.core);
      // Nothing is true before it is durable.
      if (canonical(this.#look(authority.core)) !== canonical(this.#look(this.#core(local))))
        throw new RestoreError(`${this.name} restored from its records is not what it was`);
      const answer = authority.persist(step);
      return { answer, sent: isRefused(answer) ? [] : sentWith(answer as Answer) };
    };
    const answersFirst = options.broken === 'authority answers before it writes';
    return endingsOf({ federation, party, local, cause, run, crashes: options.crashes, answersFirst });
  }

  #core({ log }: AuthorityLocal): AttributeAuthority {
    return AttributeAuthority.restore(this.#authority.ports, [...this.#genesis, ...log]);
  }

  #look(core: AttributeAuthority): unknown {
    const { buffers, federation } = this.#world;
    return [core.head(), core.newestModel(federation.task), buffers.map(({ ctx }) => core.buffer(ctx))];
  }
}

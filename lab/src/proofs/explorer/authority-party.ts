/** The authority of an exploration: the real state machine, rebuilt from its log before every step. */

import {
  AttributeAuthority,
  type AuthorityBuffer,
  type AuthorityRecord,
  type AuthorityStep,
  isRefused,
  type Millis,
} from '@basa/protocol';
import type { Cast } from './cast.ts';
import { endingsOf, holdToRecords } from './endings.ts';
import type { Ending, Message } from './messages.ts';

export interface AuthorityLocal {
  /** The log after its genesis. */
  readonly log: readonly AuthorityRecord[];
  readonly rolledBack: boolean;
}

export class AuthorityParty {
  readonly #cast: Cast;

  constructor(cast: Cast) {
    this.#cast = cast;
  }

  initial(): AuthorityLocal {
    return { log: [], rolledBack: false };
  }

  buffer(local: AuthorityLocal, buffer: number): AuthorityBuffer {
    const { ctx } = this.#cast.buffers[buffer] as Cast['buffers'][number];
    const found = this.#core(local).buffer(ctx);
    if (found === undefined) throw new Error('the authority lost a buffer');
    return found;
  }

  deliver(local: AuthorityLocal, message: Message, now: Millis): Ending<AuthorityLocal>[] {
    const core = this.#core(local);
    const { buffer } = message;
    switch (message.kind) {
      case 'key-request': {
        const { user, value } = message;
        const step = core.issueKey(value, now);
        const cause = `the key request of user ${user} reaches the authority${this.#of(buffer)}`;
        return this.#endings(local, core, step, (answer) => [{ kind: 'key', user, buffer, value: answer }], cause);
      }
      case 'close-request': {
        const step = core.close(message.value, now);
        const cause = `the request to close with slots ${message.value.accepted} reaches the authority${this.#of(buffer)}`;
        return this.#endings(local, core, step, (value) => [{ kind: 'close-answer', buffer, value }], cause);
      }
      case 'append': {
        const step = core.appendModel(message.value);
        const cause = `version ${message.value.version} reaches the authority${this.#of(buffer)}`;
        return this.#endings(local, core, step, (value) => [{ kind: 'model-entry', buffer, value }], cause);
      }
      default:
        return [];
    }
  }

  /** Somebody asks for an outcome, its clock is looked at, or it comes back with an older log. */
  act(local: AuthorityLocal, now: Millis): Ending<AuthorityLocal>[] {
    const asked = this.#cast.buffers.flatMap(({ ctx }, buffer) => {
      const core = this.#core(local);
      const step = core.outcome(ctx, now);
      const cause = `somebody asks for the outcome${this.#of(buffer)}`;
      return this.#endings(
        local,
        core,
        step,
        (value) => (value.status === 'open' ? [] : [{ kind: 'outcome', buffer, value }]),
        cause,
      );
    });
    const core = this.#core(local);
    const tick = this.#endings(local, core, core.tick(now), () => [], 'the authority looks at its clock');
    return [...asked, ...tick, ...this.#rollBack(local)];
  }

  /** The newest record is gone. The witness, kept elsewhere, is the head of what was there. */
  #rollBack(local: AuthorityLocal): Ending<AuthorityLocal>[] {
    const { rollback, broken } = this.#cast.options;
    const hasNoWitness = broken === 'authority starts without its witness';
    if (local.rolledBack || local.log.length === 0 || !(rollback || hasNoWitness)) return [];
    const lost = local.log.at(-1)?.kind;
    const older: AuthorityLocal = { log: local.log.slice(0, -1), rolledBack: true };
    const words = `the authority crashes and has lost "${lost}"`;
    if (hasNoWitness) return [{ local: older, sent: [], words: `${words}; it starts as if nothing had happened` }];
    const core = this.#core(older);
    const { records } = core.start(this.#core(local).head(), new Uint8Array(16).fill(1));
    const after: AuthorityLocal = { ...older, log: [...older.log, ...records] };
    return [{ local: after, sent: [], words: `${words}; its witness shows it, and it trusts no open buffer` }];
  }

  #endings<Answer extends object>(
    local: AuthorityLocal,
    live: AttributeAuthority,
    { records, answer, decidedAt }: AuthorityStep<Answer>,
    sentWith: (answer: Answer) => readonly Message[],
    cause: string,
  ): Ending<AuthorityLocal>[] {
    const { crashes, broken } = this.#cast.options;
    const after = (entries: readonly AuthorityRecord[]): AuthorityLocal =>
      entries.length === 0 ? local : { ...local, log: [...local.log, ...entries] };
    // Nothing is true before it is durable, and everything afterwards.
    holdToRecords('the authority', this.#look(live), this.#look(this.#core(local)));
    live.apply(records, decidedAt);
    holdToRecords('the authority', this.#look(live), this.#look(this.#core(after(records))));
    const isNo = isRefused(answer);
    const sent = isNo ? [] : sentWith(answer as Answer);
    const answersFirst = broken === 'authority answers before it writes';
    return endingsOf({ who: 'the authority', cause, records, answer, sent, after, crashes, answersFirst });
  }

  #core({ log }: AuthorityLocal): AttributeAuthority {
    return AttributeAuthority.restore(this.#cast.authority, [...this.#cast.genesis, ...log]);
  }

  #look(core: AttributeAuthority): unknown {
    const { buffers, task } = this.#cast;
    return [core.head(), core.newestModel(task), buffers.map(({ ctx }) => core.buffer(ctx))];
  }

  #of(buffer: number): string {
    return this.#cast.buffers.length > 1 ? ` (buffer ${buffer})` : '';
  }
}

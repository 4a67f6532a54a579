/**
 * The authorities of a council and its server, at the end of a filled buffer: what each does with a message, by the real core, and how
 * that may end. A party has nothing but its records.
 */
import {
  AttributeAuthority,
  type AuthorityRecord,
  type AuthorityStep,
  agreedOn,
  type CloseAnswer,
  type CloseAnswerOf,
  type CloseRequest,
  closeRequestOf,
  closeSteps,
  type Endorsement,
  isRefused,
  type Millis,
  type ModelAppend,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  type Outcome,
  recordAbort,
  recordGrant,
  type SecureBuffer,
  votesFor,
} from '@basa/protocol';
import { type Federation, granted } from '@basa/simulator';
import { councilFederation, filledBuffer } from '../oracle/council-world.ts';
import { holdToRecords } from './endings.ts';

export type CouncilMessage =
  | { readonly kind: 'close'; readonly value: CloseRequest }
  | { readonly kind: 'append'; readonly value: ModelAppend }
  | { readonly kind: 'adopt'; readonly value: ModelEntry }
  | { readonly kind: 'answer'; readonly from: number; readonly value: CloseAnswer }
  | { readonly kind: 'entry'; readonly from: number; readonly value: ModelEntry }
  | { readonly kind: 'outcome'; readonly from: number; readonly value: Outcome };

export interface CouncilEnding<Local> {
  readonly local: Local;
  readonly sent: readonly CouncilMessage[];
  readonly words: string;
}

/** Its log after the buffer was filled. */
export type AuthorityLog = readonly AuthorityRecord[];

export interface CouncilServer {
  readonly status: 'frozen' | 'granted' | 'included' | 'aborted';
  /** With which it was granted. */
  readonly votes: readonly Endorsement[];
}

export class CouncilParties {
  readonly federation: Federation;
  readonly buffer: SecureBuffer;
  readonly #genesis: readonly AuthorityLog[];

  constructor(authorities: number, threshold: number) {
    this.federation = councilFederation({ authorities, threshold, colluding: 0 });
    const { ctx } = filledBuffer(this.federation, 0, ['upload', 'upload', 'upload', 'key']);
    this.buffer = this.federation.server.buffer(ctx);
    this.#genesis = this.federation.authorities.map(({ records }) => records);
  }

  /** The first request of the server: the set is fixed. */
  get firstRequest(): CouncilMessage {
    return { kind: 'close', value: granted(closeRequestOf(this.federation.server.ports, this.buffer)) };
  }

  core(n: number, log: AuthorityLog): AttributeAuthority {
    const { ports } = this.federation.authorities[n] as Federation['authorities'][number];
    return AttributeAuthority.restore(ports, [...(this.#genesis[n] ?? []), ...log]);
  }

  /** What a message does at an authority; without one, its clock is looked at, and somebody asks for the outcome. */
  authority(
    n: number,
    log: AuthorityLog,
    now: Millis,
    message?: CouncilMessage,
  ): readonly CouncilEnding<AuthorityLog>[] {
    const core = this.core(n, log);
    const ended = <Answer extends object>(
      cause: string,
      step: AuthorityStep<Answer>,
      sentWith: (answer: Answer) => readonly CouncilMessage[],
    ): readonly CouncilEnding<AuthorityLog>[] => {
      const { records, answer, decidedAt } = step;
      const after = [...log, ...records];
      core.apply(records, decidedAt);
      holdToRecords(`authority ${n}`, this.#look(core), this.#look(this.core(n, after)));
      const sent = isRefused(answer) ? [] : sentWith(answer as Answer);
      const written = records.map(({ kind }) => kind).join(' and ') || 'nothing';
      const words = `${cause}; authority ${n} writes ${written}`;
      // Dead after any record, before its answer leaves.
      const crashes = records.map((_, at) => ({
        local: [...log, ...records.slice(0, at + 1)],
        sent: [],
        words: `${words} and crashes after record ${at + 1}`,
      }));
      return [{ local: after, sent, words }, ...crashes];
    };
    switch (message?.kind) {
      case 'close':
        return ended(
          `a close with ${message.value.votes.length} votes arrives`,
          core.close(message.value, now),
          (value) => [{ kind: 'answer', from: n, value }],
        );
      case 'append':
        return ended('a version arrives', core.appendModel(message.value), (value) => [
          { kind: 'entry', from: n, value },
        ]);
      case 'adopt':
        return ended('a signed version arrives', core.adoptModel(message.value), () => []);
      case undefined:
        return ended('somebody asks for the outcome', core.outcome(this.buffer.ctx, now), (value) =>
          value.status === 'open' ? [] : [{ kind: 'outcome', from: n, value }],
        );
      default:
        return [];
    }
  }

  /** What the server does with some of the answers that reached it: one of each authority at most. */
  server(local: CouncilServer, said: readonly CouncilMessage[]): readonly CouncilEnding<CouncilServer>[] {
    const { ports } = this.federation.server;
    const words = `the server hears ${said.map((one) => `${one.kind} of ${'from' in one ? one.from : ''}`).join(', ')}`;
    if (local.status === 'frozen') {
      const answers = said.flatMap((one) =>
        one.kind === 'answer' ? [{ authority: one.from, answer: one.value }] : [],
      );
      if (answers.length > 0) return this.#close(local, answers, words);
      const outcomes = said.flatMap((one) =>
        one.kind === 'outcome' ? [{ authority: one.from, outcome: one.value }] : [],
      );
      const isLost = outcomes.length > 0 && !isRefused(recordAbort(ports, this.buffer, outcomes).answer);
      return isLost ? [{ local: { ...local, status: 'aborted' }, sent: [], words: `${words} and gives up` }] : [];
    }
    if (local.status !== 'granted') return [];
    const entries = said.flatMap((one) => (one.kind === 'entry' ? [one.value] : []));
    const entry = agreedOn(modelEntryCodec, this.federation.policy, entries);
    const next = { ...local, status: 'included' as const };
    return entry === undefined
      ? []
      : [{ local: next, sent: [{ kind: 'adopt', value: entry }], words: `${words} and includes the sum` }];
  }

  #close(
    local: CouncilServer,
    answers: readonly CloseAnswerOf[],
    words: string,
  ): readonly CouncilEnding<CouncilServer>[] {
    const { ports } = this.federation.server;
    const steps = closeSteps(ports, this.buffer);
    steps.next();
    const { done, value } = steps.next(answers);
    if (!done) return [{ local, sent: [{ kind: 'close', value }], words: `${words} and asks for the keys` }];
    if (isRefused(value)) return [];
    const { state } = recordGrant(this.buffer, value);
    const append = {
      task: this.federation.task,
      version: 1,
      modelHash: new Uint8Array(32).fill(1),
      ctx: this.buffer.ctx,
      closed: votesFor(ports, state),
    };
    const sent: CouncilMessage = {
      kind: 'append',
      value: { ...append, signature: ports.signer.sign(modelAppendCodec.statement(append)) },
    };
    return [{ local: { status: 'granted', votes: value.votes }, sent: [sent], words: `${words} and opens the sum` }];
  }

  #look(core: AttributeAuthority): unknown {
    return [core.head(), core.newestModel(this.federation.task), core.buffer(this.buffer.ctx)];
  }
}

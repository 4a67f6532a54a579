/** The authorities of the task as a device asks them: all at once, and the first good answers of as many as are needed. */
import type {
  Certificate,
  Council,
  Ctx,
  Head,
  KeptHead,
  KeyAnswerOf,
  KeyRequest,
  Millis,
  NewestOf,
  OutcomeOf,
  Refused,
  TaskId,
} from '@basa/protocol';
import { agreedOn, certificateCodec } from '@basa/protocol';
import type { AuthorityClient } from './authority-client.ts';
import { AnswerError, ProblemError } from './errors.ts';
import { firstAnswer } from './first-answer.ts';
import type { ServiceLink } from './service-link.ts';

/** One of them, with its index in the policy. */
export interface Member {
  readonly authority: number;
  readonly client: AuthorityClient;
}

/** Why an answer does not count, so that another authority's is waited for. */
type Judge<Answer> = (answer: Answer) => Refused | undefined;

export class Authorities {
  readonly #members: readonly Member[];
  readonly #council: Council;

  constructor(members: readonly Member[], council: Council) {
    this.#members = members;
    this.#council = council;
  }

  /** The first one, which is the only one of most tasks. */
  get first(): AuthorityClient {
    return (this.#members[0] as Member).client;
  }

  get links(): readonly ServiceLink[] {
    return this.#members.map(({ client }) => client.link);
  }

  /** The time as an authority sees it, as far as it told. */
  now(): Millis {
    return this.first.link.now();
  }

  /** What was seen of all their logs. */
  get heads(): readonly KeptHead[] {
    return this.#members.flatMap(({ client }) => client.heads.kept);
  }

  /** What was seen of each log, by index. */
  seen(): ReadonlyMap<number, readonly Head[]> {
    return new Map(this.#members.map(({ authority, client }) => [authority, client.heads.seen]));
  }

  /**
   * The certificate with the signatures of as many as are needed. They all sign the same words: whoever answers first says from when
   * to when it holds, and the others are asked for the same.
   */
  async enrol(task: TaskId, token: string | undefined, signal: AbortSignal): Promise<Certificate> {
    const { asked, answer: first } = await firstAnswer(this.#members, signal, ({ client }, both) =>
      client.enrol(task, { token }, both),
    );
    const others = this.#members.filter((one) => one !== asked);
    const needed = this.#council.threshold - 1;
    const more = await this.#ask(
      others,
      signal,
      () => undefined,
      ({ client }, both) => client.enrol(task, { token, like: first }, both),
      needed,
    );
    const agreed = agreedOn(certificateCodec, this.#council, [first, ...more]);
    if (agreed === undefined) throw new AnswerError('the authorities', 'certificates that say different things');
    return agreed;
  }

  newestModel(
    task: TaskId,
    nonce: Uint8Array,
    judge: Judge<NewestOf>,
    signal: AbortSignal,
  ): Promise<readonly NewestOf[]> {
    return this.#ask(this.#members, signal, judge, async ({ authority, client }, both) => ({
      authority,
      answer: await client.newestModel(task, nonce, both),
    }));
  }

  /** Of those that have a part in the buffer. */
  key(
    ctx: Ctx,
    request: KeyRequest,
    { parts, bufferSize }: { readonly parts: readonly { readonly authority: number }[]; readonly bufferSize: number },
    judge: Judge<KeyAnswerOf>,
    signal: AbortSignal,
  ): Promise<readonly KeyAnswerOf[]> {
    const members = this.#members.filter(({ authority }) => parts.some((part) => part.authority === authority));
    return this.#ask(members, signal, judge, async ({ authority, client }, both) => ({
      authority,
      answer: await client.key(ctx, request, bufferSize, both),
    }));
  }

  outcomes(ctx: Ctx, signal: AbortSignal): Promise<readonly OutcomeOf[]> {
    return this.#ask(
      this.#members,
      signal,
      () => undefined,
      async ({ authority, client }, both) => ({ authority, outcome: await client.outcome(ctx, both) }),
    );
  }

  /** The others are not waited for, and end with it. Answers that do not count are given back where there are no better ones. */
  async #ask<Answer>(
    members: readonly Member[],
    signal: AbortSignal,
    judge: Judge<Answer>,
    ask: (member: Member, signal: AbortSignal) => Promise<Answer>,
    needed: number = this.#council.threshold,
  ): Promise<readonly Answer[]> {
    if (needed === 0) return [];
    const [only] = members;
    if (only !== undefined && members.length === 1) return [await ask(only, signal)];
    const rest = new AbortController();
    const both = AbortSignal.any([signal, rest.signal]);
    const good: Answer[] = [];
    const bad: Answer[] = [];
    const failures: unknown[] = [];
    try {
      await new Promise<void>((resolve) => {
        const settle = (): void => {
          const isOver = good.length + bad.length + failures.length === members.length;
          if (good.length >= needed || isOver) resolve();
        };
        if (members.length === 0) resolve();
        for (const member of members) {
          ask(member, both)
            .then((answer) => (judge(answer) === undefined ? good : bad).push(answer))
            .catch((error: unknown) => failures.push(error))
            .finally(settle);
        }
      });
    } finally {
      rest.abort(new Error('enough others answered'));
    }
    signal.throwIfAborted();
    if (good.length >= needed) return good;
    const no = failures.find((error) => error instanceof ProblemError);
    if (good.length + bad.length < needed) throw no ?? failures[0] ?? new AnswerError('the authorities', 'nothing');
    return [...good, ...bad];
  }
}

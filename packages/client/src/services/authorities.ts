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
import { agreedOn, certificateCodec, refused } from '@basa/protocol';
import { AnswerError, isOfService, ProblemError, RefusedError, UnreachableError } from '../errors.ts';
import type { AuthorityClient } from './authority-client.ts';
import { firstAnswer } from './first-answer.ts';
import type { ServiceLink } from './service-link.ts';

/** One of them, with its index in the policy. */
export interface Member {
  readonly authority: number;
  readonly client: AuthorityClient;
}

/** Why an answer does not count, so that another authority's is waited for. */
type Judge<Answer> = (answer: Answer) => Refused | undefined;

const NOT_MINE = refused('certificate-invalid');

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
   * to when it holds, and the others are asked for the same. Where they do not take its words, another one is asked first.
   */
  async enrol(
    task: TaskId,
    token: string | undefined,
    isMine: (certificate: Certificate) => boolean,
    signal: AbortSignal,
  ): Promise<Certificate> {
    const needed = this.#council.threshold - 1;
    let failure: unknown;
    for (let firsts = this.#members; firsts.length > needed; ) {
      const { asked, answer: first } = await firstAnswer(firsts, signal, async ({ client }, both) => {
        const certificate = await client.enrol(task, { token }, both);
        if (!isMine(certificate)) throw new RefusedError('wrong-certificate');
        return certificate;
      });
      const others = this.#members.filter((one) => one !== asked);
      const isSame = (answers: readonly Certificate[]): boolean => this.#agreed([first, ...answers]) !== undefined;
      const judge = (answer: Certificate): Refused | undefined => (isMine(answer) ? undefined : NOT_MINE);
      const like = ({ client }: Member, both: AbortSignal): Promise<Certificate> =>
        client.enrol(task, { token, like: first }, both);
      try {
        const more = await this.#ask(others, signal, judge, like, isSame, needed);
        const agreed = this.#agreed([first, ...more.filter(isMine)]);
        if (agreed !== undefined) return agreed;
        failure = new AnswerError('the authorities', 'certificates that say different things');
      } catch (error) {
        if (!(error instanceof ProblemError) || error.code !== 'malformed') throw error;
        failure = error;
      }
      firsts = firsts.filter((one) => one !== asked);
    }
    throw failure;
  }

  #agreed(certificates: readonly Certificate[]): Certificate | undefined {
    return agreedOn(certificateCodec, this.#council, certificates);
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

  /** Until `isAgreed` says of them that enough say the same: who lies, or was away, keeps nobody from knowing. */
  outcomes(
    ctx: Ctx,
    isAgreed: (answers: readonly OutcomeOf[]) => boolean,
    signal: AbortSignal,
  ): Promise<readonly OutcomeOf[]> {
    return this.#ask(
      this.#members,
      signal,
      () => undefined,
      async ({ authority, client }, both) => ({ authority, outcome: await client.outcome(ctx, both) }),
      isAgreed,
    );
  }

  /** Whether as many as are needed answer, whatever it is that they say. */
  async enoughAnswer(signal: AbortSignal): Promise<boolean> {
    const ask = ({ client }: Member, both: AbortSignal): Promise<unknown> => client.about(both);
    try {
      return (await this.#ask(this.#members, signal, () => undefined, ask)).length >= this.#council.threshold;
    } catch (error) {
      if (isOfService(error)) return false;
      throw error;
    }
  }

  /**
   * Until there is enough; the others are not waited for, and end with it. Where all have answered, and there never was, what came is
   * given back, if it came from as many as are needed.
   */
  async #ask<Answer>(
    members: readonly Member[],
    signal: AbortSignal,
    judge: Judge<Answer>,
    ask: (member: Member, signal: AbortSignal) => Promise<Answer>,
    isEnough: (good: readonly Answer[]) => boolean = (good) => good.length >= this.#council.threshold,
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
          if (isEnough(good) || isOver) resolve();
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
    if (isEnough(good)) return good;
    if (good.length + bad.length >= needed) return [...good, ...bad];
    // A no stands where it leaves too few; else those that were silent may make it enough, later.
    const nos = failures.filter((error) => error instanceof ProblemError);
    const silent = failures.filter((error) => !(error instanceof ProblemError));
    const isFinal = members.length - nos.length < needed;
    if (!isFinal && silent.length > 0) throw tooFew(silent, needed, members.length);
    throw nos[0] ?? new AnswerError('the authorities', 'nothing');
  }
}

/** Says how many are needed, where there was silence. */
function tooFew(silent: readonly unknown[], needed: number, asked: number): unknown {
  const away = silent.filter((error) => error instanceof UnreachableError);
  const [first] = away;
  if (first === undefined) return silent[0];
  const counts = `${needed} of the ${asked} authorities that can be asked are needed, and ${away.length} did not answer`;
  const advice = `${counts}; what was begun is kept, call resume() when one of them is back`;
  return new UnreachableError('the authority', first.cause ?? first, advice);
}

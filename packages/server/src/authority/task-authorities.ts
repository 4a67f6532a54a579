/**
 * The server's requests to the authorities of one task: buffers drawn from their offers, models signed by enough of
 * them, closes by their votes. With one authority each of these is one call.
 */
import { equalBytes } from '@basa/masking';
import {
  agreedOn,
  agreedOutcome,
  type CloseAnswerOf,
  type Ctx,
  closeSteps,
  councilsBefore,
  type DescribedBuffer,
  type DrawnBuffer,
  FIRST_BRANCH,
  type Grant,
  hasGoodEndorsements,
  isDrawn,
  isEndorsed,
  isOutcomeOf,
  isUsefulAnswer,
  type ModelEntry,
  modelEntryCodec,
  type Outcome,
  type OutcomeOf,
  type Refused,
  type SecureBuffer,
  type ServerPorts,
  slotKeysProblem,
  type TaskId,
  type TaskPolicy,
  type Term,
  taskIdOf,
  type Vote,
  withPolicy,
} from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from './authority-http.ts';
import type { AuthorityLink } from './authority-link.ts';
import { CouncilDraw, type Member, type Wanted } from './council-draw.ts';
import { type Answered, gather } from './gather.ts';

export interface TaskAuthoritiesOptions {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly ports: ServerPorts;
  /** The terms of the task as the server keeps them, from the first one on. */
  readonly terms: () => Promise<readonly Term[]>;
  /** By index; missing for those whose address this server does not have. */
  readonly links: readonly (AuthorityLink | undefined)[];
  /** The time for which authorities that are not needed are awaited. */
  readonly graceMs: number;
  readonly clock: () => number;
}

/** The input for logging a version. */
export interface Append {
  readonly version: number;
  readonly modelHash: Uint8Array;
  /** The sums it is made of; empty for version 0. */
  readonly sums: readonly Ctx[];
  /** Sums that were closed as well, and left out. */
  readonly spoilt: readonly Ctx[];
  /** The votes for the close of all of them. */
  readonly closed: readonly Vote[];
}

/** Longer than a request may take. */
const ALL_MS = 120_000;

export class TaskAuthorities {
  readonly #options: TaskAuthoritiesOptions;

  readonly #council: CouncilDraw;

  constructor(options: TaskAuthoritiesOptions) {
    this.#options = options;
    this.#council = new CouncilDraw(options);
  }

  /** Throws if too few of them know the policy. */
  async checkPolicy(): Promise<void> {
    const { task, ports } = this.#options;
    await this.#ofEnough(async ({ link }) => {
      if (!equalBytes(taskIdOf(ports.suite, await link.policy(task)), task))
        throw new AuthorityUnreachable('it sent the policy of another task');
    });
  }

  /**
   * A single authority returns the same buffer for the same nonce. Several authorities draw a new buffer each time, and an incomplete draw
   * is aborted automatically.
   */
  async drawBuffer(nonce: Uint8Array, asked: Wanted): Promise<DescribedBuffer> {
    const { policy, ports } = this.#options;
    const newest = this.#newestOf(asked.newest);
    const wanted = { model: policy.versions === 'one' ? asked.model : newest, newest };
    const drawn =
      policy.authorities.length === 1
        ? await this.#drawAlone(nonce, wanted)
        : await this.#council.draw(this.members, wanted);
    const { descriptor: signed, slotKeys } = drawn;
    if (!equalBytes(signed.task, this.#options.task) || !isDrawn(ports.suite, policy, signed))
      throw new AuthorityUnreachable('a new buffer is not signed by its authorities, or is not for this task');
    const descriptor = withPolicy(policy, signed);
    const problem = slotKeysProblem(ports.suite, descriptor, slotKeys);
    if (problem !== undefined) throw new AuthorityUnreachable(`a list of slot keys is wrong: ${problem.detail}`);
    return { descriptor, slotKeys };
  }

  async #drawAlone(nonce: Uint8Array, wanted: Wanted): Promise<DrawnBuffer> {
    const { task } = this.#options;
    const [only] = await this.#ofEnough(({ link }) => link.drawBuffer({ task, nonce, ...wanted, plan: [] }));
    if (only === undefined) throw new AuthorityUnreachable('there is none');
    return only.answer;
  }

  /**
   * Returns the entry that enough of them signed. It is shown to all, so that they tell devices about it; `before` is
   * the version that it follows, for an authority that was away.
   */
  async appendModel(append: Append, before: ModelEntry | undefined): Promise<ModelEntry> {
    const { policy } = this.#options;
    const earlier = before && (await this.loggedBefore(append, before));
    if (earlier !== undefined) return earlier;
    const agreed = (signed: readonly Answered<ModelEntry>[]): ModelEntry | undefined =>
      agreedOn(
        modelEntryCodec,
        policy,
        signed.map(({ answer }) => answer),
      );
    const entry = agreed(
      await this.#ofEnough(
        async ({ link }) => this.#checked(append, before, await this.#appendedAt(link, append, before)),
        (signed) => agreed(signed) !== undefined,
      ),
    );
    if (entry === undefined) throw new AuthorityUnreachable('the authorities have different models in their logs');
    this.#newest = entry;
    if (policy.threshold > 1) await this.#ofEnough(({ link }) => link.adoptModel(entry));
    return entry;
  }

  /**
   * The switch to this term may have come while a version was shown to the authorities. If one of them has it in its log, enough of them
   * signed it in an earlier term: it counts, although the others gave up its sums.
   */
  async loggedBefore(
    { version, modelHash }: Pick<Append, 'version' | 'modelHash'>,
    before: ModelEntry,
  ): Promise<ModelEntry | undefined> {
    const { policy, ports } = this.#options;
    const isOfTerm = (entry: ModelEntry): boolean => isEndorsed(ports.suite, modelEntryCodec, policy, entry);
    if (policy.term === undefined || isOfTerm(before)) return undefined;
    const told = await this.newerThan(before);
    return told.find((one) => one.version === version && equalBytes(one.modelHash, modelHash) && !isOfTerm(one));
  }

  /** The newest entries of their logs that are newer than this one, the newest first: each is signed in this or an earlier term. */
  async newerThan(before: ModelEntry): Promise<readonly ModelEntry[]> {
    const { task, policy, ports, terms } = this.#options;
    const councils = [policy, ...councilsBefore(policy, await terms())];
    const asked = await Promise.allSettled(this.members.map(({ link }) => link.adoptModel(before)));
    return asked
      .flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      .filter(
        (entry) =>
          entry.version > before.version &&
          equalBytes(entry.task, task) &&
          councils.some((council) => isEndorsed(ports.suite, modelEntryCodec, council, entry)),
      )
      .sort((a, b) => b.version - a.version);
  }

  /** Has the newest entry of an earlier term signed again if it is not yet, and shows it to all of them. */
  async renewModel(entry: ModelEntry): Promise<ModelEntry> {
    const { policy, ports } = this.#options;
    const isOfTerm = isEndorsed(ports.suite, modelEntryCodec, policy, entry);
    const renewed = isOfTerm ? entry : await this.#signedAgain(entry);
    if (policy.threshold > 1) await this.#ofEnough(({ link }) => link.adoptModel(renewed));
    return renewed;
  }

  async #signedAgain(entry: ModelEntry): Promise<ModelEntry> {
    const { policy, ports } = this.#options;
    const agreed = (signed: readonly Answered<ModelEntry>[]): ModelEntry | undefined =>
      agreedOn(
        modelEntryCodec,
        policy,
        signed.map(({ answer }) => answer),
      );
    const words = modelEntryCodec.statement(entry);
    const signed = await this.#ofEnough(
      async ({ link }) => {
        const one = await link.renewModel(entry);
        const isGood = one.endorsements.length > 0 && hasGoodEndorsements(ports.suite, modelEntryCodec, policy, one);
        if (isGood && equalBytes(modelEntryCodec.statement(one), words)) return one;
        throw new AuthorityUnreachable('it signed another model than the one it was shown');
      },
      (some) => agreed(some) !== undefined,
    );
    const renewed = agreed(signed);
    if (renewed === undefined) throw new AuthorityUnreachable('they signed different models');
    return renewed;
  }

  /** The branch that the log of the only authority is in. Undefined if it was never rolled back, and if there are several authorities. */
  get branch(): Uint8Array | undefined {
    const { policy, links } = this.#options;
    const branch = policy.authorities.length === 1 ? links[0]?.head?.branch : undefined;
    return branch === undefined || equalBytes(branch, FIRST_BRANCH) ? undefined : branch;
  }

  /** The last version that this process logged. Authorities know it before the store does. */
  #newest: ModelEntry | undefined;

  #newestOf(known: ModelEntry): ModelEntry {
    return this.#newest !== undefined && this.#newest.version > known.version ? this.#newest : known;
  }

  /**
   * Checks that it is the requested statement and that every signature is valid. Otherwise one authority could spoil the statement of the
   * others.
   */
  #checked(
    { version, modelHash, sums, spoilt }: Append,
    before: ModelEntry | undefined,
    entry: ModelEntry,
  ): ModelEntry {
    const { task, policy, ports } = this.#options;
    const isAsked =
      entry.version === version &&
      equalBytes(entry.task, task) &&
      equalBytes(entry.modelHash, modelHash) &&
      isSameList(entry.sums, sums) &&
      isSameList(entry.spoilt, spoilt) &&
      (before?.version !== version - 1 ||
        equalBytes(entry.previous, modelEntryCodec.statementHash(ports.suite, before)));
    const isGood = entry.endorsements.length > 0 && hasGoodEndorsements(ports.suite, modelEntryCodec, policy, entry);
    if (!isAsked || !isGood) throw new AuthorityUnreachable('it logged another model than the requested one');
    return entry;
  }

  async #appendedAt(link: AuthorityLink, append: Append, before: ModelEntry | undefined): Promise<ModelEntry> {
    const { task } = this.#options;
    try {
      return await link.appendModel({ task, ...append });
    } catch (error) {
      const isBehind = error instanceof AuthorityRefusal && error.code === 'wrong-version';
      if (!isBehind || before === undefined) throw error;
      await link.adoptModel(before);
      return link.appendModel({ task, ...append });
    }
  }

  /** Returns the keys of the buffer, from enough authorities with a part in it, or from all that answer. */
  async close(buffer: SecureBuffer, whose: 'enough' | 'all' = 'enough'): Promise<Grant | Refused> {
    const { ports, graceMs } = this.#options;
    const { parts, bufferSize, threshold } = buffer.descriptor;
    const members = this.members.filter(({ authority }) => parts.some((part) => part.authority === authority));
    const steps = closeSteps(ports, buffer);
    let next = steps.next();
    while (next.done !== true) {
      const request = next.value;
      const answers: readonly CloseAnswerOf[] = await gather(
        members.map(({ authority, link }) => ({
          authority,
          ask: async () => {
            const answer = await link.close(request, bufferSize);
            if (isUsefulAnswer(ports, buffer, request, { authority, answer })) return answer;
            throw new AuthorityUnreachable('it did not sign its answer to a close, or the answer is for another close');
          },
        })),
        { needed: threshold, graceMs: whose === 'all' ? ALL_MS : graceMs },
      );
      next = steps.next(answers);
    }
    return next.value;
  }

  outcomes(ctx: Ctx): Promise<readonly OutcomeOf[]> {
    return this.#told(ctx, (link) => link.outcome(ctx));
  }

  /** Asks them to end a buffer that can never have enough updates. */
  abort(ctx: Ctx): Promise<readonly OutcomeOf[]> {
    return this.#told(ctx, (link) => link.abort(ctx));
  }

  /** Waits for all authorities if the first answers do not agree, so that a lying authority cannot hide the answer of the others. */
  async #told(ctx: Ctx, ask: (link: AuthorityLink) => Promise<Outcome>): Promise<readonly OutcomeOf[]> {
    const { ports, policy } = this.#options;
    const told = (answers: readonly Answered<OutcomeOf>[]): readonly OutcomeOf[] => answers.map(({ answer }) => answer);
    const answers = await this.#ofEnough(
      async ({ authority, link }): Promise<OutcomeOf> => {
        const one = { authority, outcome: await ask(link) };
        if (isOutcomeOf(ports.suite, policy, ctx, one)) return one;
        throw new AuthorityUnreachable('it did not sign its statement about a buffer');
      },
      (some) => agreedOutcome(ports.suite, policy, ctx, told(some)) !== undefined,
    );
    return told(answers);
  }

  /** The authorities whose addresses this server has. */
  get members(): readonly Member[] {
    return this.#options.links.flatMap((link, authority) => (link === undefined ? [] : [{ authority, link }]));
  }

  #ofEnough<Answer>(
    ask: (member: Member) => Promise<Answer>,
    isEnough: (answers: readonly Answered<Answer>[]) => boolean = () => true,
  ): Promise<readonly Answered<Answer>[]> {
    const { policy, graceMs } = this.#options;
    return gather(
      this.members.map((member) => ({ authority: member.authority, ask: () => ask(member) })),
      { needed: policy.threshold, graceMs, isEnough },
    );
  }
}

function isSameList(left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean {
  return left.length === right.length && left.every((one, n) => equalBytes(one, right[n] as Uint8Array));
}

/**
 * The authorities of one task, as its server asks them: buffers drawn of their offers, models signed by enough of them, closes by
 * their votes. With one authority each of these is one call.
 */
import { equalBytes } from '@basa/masking';
import type {
  CloseAnswerOf,
  Ctx,
  DrawnBuffer,
  Grant,
  ModelEntry,
  OutcomeOf,
  Refused,
  SecureBuffer,
  ServerPorts,
  TaskId,
  TaskPolicy,
  Vote,
} from '@basa/protocol';
import {
  agreedOn,
  closeSteps,
  descriptorCodec,
  isDrawn,
  isEndorsed,
  listsOf,
  millis,
  modelEntryCodec,
  slotKeysProblem,
} from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { AuthorityLink } from './authority-link.ts';
import { AuthorityRefusal, AuthorityUnreachable } from './authority-link.ts';
import type { Answered } from './gather.ts';
import { gather } from './gather.ts';

export interface TaskAuthoritiesOptions {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly ports: ServerPorts;
  /** By index; missing for those that this server has no address of. */
  readonly links: readonly (AuthorityLink | undefined)[];
  /** How long those are waited for that are not needed. */
  readonly graceMs: number;
  readonly clock: () => number;
}

interface Member {
  readonly authority: number;
  readonly link: AuthorityLink;
}

/** What a version is logged with. */
export interface Append {
  readonly version: number;
  readonly modelHash: Uint8Array;
  readonly ctx: Ctx;
  /** The votes for the close of its buffer; none for version 0. */
  readonly closed: readonly Vote[];
}

export class TaskAuthorities {
  readonly #options: TaskAuthoritiesOptions;

  constructor(options: TaskAuthoritiesOptions) {
    this.#options = options;
  }

  /** Throws where too few of them know the policy. */
  async checkPolicy(): Promise<void> {
    const { task } = this.#options;
    await this.#ofEnough(({ link }) => link.policy(task));
  }

  /** One authority gives the same buffer for the same nonce. Several draw a new one each time: a rest of theirs aborts by itself. */
  async drawBuffer(nonce: Uint8Array, newest: ModelEntry): Promise<DrawnBuffer> {
    const { policy, ports } = this.#options;
    const drawn = policy.authorities.length === 1 ? await this.#drawAlone(nonce) : await this.#drawTogether(newest);
    const { descriptor, slotKeys } = drawn;
    if (!equalBytes(descriptor.task, this.#options.task) || !isDrawn(ports.suite, policy, descriptor))
      throw new AuthorityUnreachable('a buffer was drawn that is not signed by its authorities or not of this task');
    const problem = slotKeysProblem(ports.suite, descriptor, slotKeys);
    if (problem !== undefined) throw new AuthorityUnreachable(`a list of slot keys is wrong: ${problem.detail}`);
    return drawn;
  }

  async #drawAlone(nonce: Uint8Array): Promise<DrawnBuffer> {
    const [only] = await this.#ofEnough(({ link }) => link.drawBuffer(this.#options.task, nonce, []));
    if (only === undefined) throw new AuthorityUnreachable('there is none');
    return only.answer;
  }

  /**
   * All that offered a part must sign; with the next draw whoever does not is left out. Each draw has a nonce of its own: an authority that
   * signed one that others did not would give the same descriptor again. `known` may be older than what they have logged since.
   */
  async #drawTogether(known: ModelEntry): Promise<DrawnBuffer> {
    const { task, policy, clock } = this.#options;
    const newest = this.#newest !== undefined && this.#newest.version > known.version ? this.#newest : known;
    const nonce = nodeRandomBytes(16);
    const offers = await this.#ofEnough(({ link }) => link.offer(task));
    const parts = offers.map(({ answer }) => answer.part);
    const plan = { parts, newest, expiry: millis(clock() + policy.openMs) };
    const offered = new Set(offers.map(({ authority }) => authority));
    const members = this.#members.filter(({ authority }) => offered.has(authority));
    const drawn = await gather(
      members.map(({ authority, link }) => ({ authority, ask: () => link.drawBuffer(task, nonce, [plan]) })),
      { needed: members.length, graceMs: 0 },
    );
    const descriptor = agreedOn(
      descriptorCodec,
      policy,
      drawn.map(({ answer }) => answer.descriptor),
    );
    if (descriptor === undefined) throw new AuthorityUnreachable('they signed different buffers');
    return { descriptor, slotKeys: listsOf(offers.map(({ answer }) => answer)) };
  }

  /**
   * The entry that enough of them signed. It is shown to all, so that they tell devices of it; `before` is the version that it follows,
   * for an authority that was away.
   */
  async appendModel(append: Append, before: ModelEntry | undefined): Promise<ModelEntry> {
    const { task, policy, ports } = this.#options;
    const signed = await this.#ofEnough(({ link }) => this.#appendedAt(link, append, before));
    const entry = agreedOn(
      modelEntryCodec,
      policy,
      signed.map(({ answer }) => answer),
    );
    const isGood =
      entry !== undefined &&
      isEndorsed(ports.suite, modelEntryCodec, policy, entry) &&
      entry.version === append.version &&
      equalBytes(entry.task, task) &&
      equalBytes(entry.modelHash, append.modelHash);
    if (!isGood) throw new AuthorityUnreachable('it logged another model than the one it was asked to');
    this.#newest = entry;
    if (policy.threshold > 1) await this.#ofEnough(({ link }) => link.adoptModel(entry));
    return entry;
  }

  /** The last one that was logged by this process: authorities know it before the store does. */
  #newest: ModelEntry | undefined;

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

  /** The keys of the buffer, from enough of those that have a part in it. */
  async close(buffer: SecureBuffer): Promise<Grant | Refused> {
    const { ports } = this.#options;
    const { parts, bufferSize, threshold } = buffer.descriptor;
    const members = this.#members.filter(({ authority }) => parts.some((part) => part.authority === authority));
    const steps = closeSteps(ports, buffer);
    let next = steps.next();
    while (next.done !== true) {
      const request = next.value;
      const answers: readonly CloseAnswerOf[] = await gather(
        members.map(({ authority, link }) => ({ authority, ask: () => link.close(request, bufferSize) })),
        { needed: threshold, graceMs: this.#options.graceMs },
      );
      next = steps.next(answers);
    }
    return next.value;
  }

  async outcomes(ctx: Ctx): Promise<readonly OutcomeOf[]> {
    const answers = await this.#ofEnough(({ link }) => link.outcome(ctx));
    return answers.map(({ authority, answer: outcome }) => ({ authority, outcome }));
  }

  get #members(): readonly Member[] {
    return this.#options.links.flatMap((link, authority) => (link === undefined ? [] : [{ authority, link }]));
  }

  #ofEnough<Answer>(ask: (member: Member) => Promise<Answer>): Promise<readonly Answered<Answer>[]> {
    const { policy, graceMs } = this.#options;
    return gather(
      this.#members.map((member) => ({ authority: member.authority, ask: () => ask(member) })),
      { needed: policy.threshold, graceMs },
    );
  }
}

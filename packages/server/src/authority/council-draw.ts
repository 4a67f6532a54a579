/**
 * Draws buffers together with several authorities. A descriptor is valid only if every authority with a part in it signed it. An authority
 * that offers a part and does not sign could stop every draw, so it is left out of the next draw.
 */
import { equalBytes } from '@basa/masking';
import {
  type BufferRequest,
  type DescriptorBody,
  type DrawnBuffer,
  descriptorCodec,
  type Endorsement,
  isEndorsedByOne,
  joined,
  listsOf,
  millis,
  type Offer,
  type ServerPorts,
  slotKeysProblem,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { AuthorityUnreachable } from './authority-http.ts';
import type { AuthorityLink } from './authority-link.ts';
import { Backoff } from './backoff.ts';
import { type Answered, gather } from './gather.ts';

export interface Member {
  readonly authority: number;
  readonly link: AuthorityLink;
}

/** The version that a buffer is drawn for, and the newest one. */
export type Wanted = Pick<BufferRequest, 'model' | 'newest'>;

export interface CouncilDrawOptions {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly ports: ServerPorts;
  /** The time for which offers that are not needed are awaited. */
  readonly graceMs: number;
  readonly clock: () => number;
}

/** The time for which a signature is awaited once enough others signed. */
const SIGN_GRACE_MS = 2_000;
/** The time for which draws leave out an authority that did not sign one: twice as long each time, until it signs. */
const LEFT_OUT = { firstMs: 60_000, longestMs: 3_600_000 };

export class CouncilDraw {
  readonly #options: CouncilDrawOptions;
  /** By index. */
  readonly #leftOut: Backoff;

  constructor(options: CouncilDrawOptions) {
    this.#options = options;
    this.#leftOut = new Backoff(options.clock, LEFT_OUT);
  }

  /** Throws if fewer than `threshold` authorities sign. */
  async draw(members: readonly Member[], wanted: Wanted): Promise<DrawnBuffer> {
    const { authorities, threshold } = this.#options.policy;
    for (let left = authorities.length - threshold; left >= 0; left--) {
      const drawn = await this.#attempt(members, wanted);
      if (drawn !== undefined) return drawn;
    }
    throw new AuthorityUnreachable('authorities that offered a part did not sign the buffer');
  }

  /**
   * Returns undefined if not all authorities with a part signed. Each draw has new offers and a new nonce, because
   * signed ones are used up.
   */
  async #attempt(members: readonly Member[], { model, newest }: Wanted): Promise<DrawnBuffer | undefined> {
    const { task, policy, clock } = this.#options;
    const offers = this.#chosen(await this.#offers(members));
    const parts = offers.map(({ answer }) => answer.part);
    const plan = { parts, expiry: millis(clock() + policy.openMs) };
    const { version, modelHash } = model;
    const body: DescriptorBody = { task, version, modelHash, ...plan };
    const nonce = nodeRandomBytes(16);
    const asked = members.filter(({ authority }) => parts.some((part) => part.authority === authority));
    const signed = await gather(
      asked.map(({ authority, link }) => ({
        authority,
        ask: async () =>
          this.#signature(authority, body, await link.drawBuffer({ task, nonce, model, newest, plan: [plan] })),
      })),
      { needed: 1, graceMs: SIGN_GRACE_MS, isEnough: ({ length }) => length >= policy.threshold },
    );
    const signers = new Set(signed.map(({ authority }) => authority));
    for (const { authority } of asked) {
      if (signers.has(authority)) this.#leftOut.over(`${authority}`);
      else this.#leftOut.failed(`${authority}`);
    }
    if (signers.size < parts.length) return undefined;
    const endorsements = joined(signed.flatMap(({ answer }) => answer));
    return { descriptor: { ...body, endorsements }, slotKeys: listsOf(offers.map(({ answer }) => answer)) };
  }

  #offers(members: readonly Member[]): Promise<readonly Answered<Offer>[]> {
    const { task, policy, graceMs } = this.#options;
    return gather(
      members.map(({ authority, link }) => ({
        authority,
        ask: async () => this.#usable(authority, await link.offer(task)),
      })),
      { needed: policy.threshold, graceMs, isEnough: (offers) => this.#willing(offers).length >= policy.threshold },
    );
  }

  /** Leaves out authorities that recently did not sign. */
  #willing(offers: readonly Answered<Offer>[]): readonly Answered<Offer>[] {
    return offers.filter(({ authority }) => this.#leftOut.isDue(`${authority}`));
  }

  /** The same as long as enough are left. */
  #chosen(offers: readonly Answered<Offer>[]): readonly Answered<Offer>[] {
    const willing = this.#willing(offers);
    return willing.length >= this.#options.policy.threshold ? willing : offers;
  }

  /** Checks that the part belongs to this authority and has the list of keys that it names. A wrong part would spoil the buffer for all. */
  #usable(authority: number, offer: Offer): Offer {
    const { ports, policy, task } = this.#options;
    const { engine, bufferSize } = policy;
    const { part, slotKeys } = offer;
    const problem = slotKeysProblem(ports.suite, { engine, bufferSize, parts: [part] }, slotKeys);
    if (problem !== undefined) throw new AuthorityUnreachable(`its list of slot keys is wrong: ${problem.detail}`);
    if (part.authority !== authority || !equalBytes(offer.task, task))
      throw new AuthorityUnreachable('it offered a part that is not its own, or not for this task');
    return offer;
  }

  /** Accepts a signature only on the planned buffer: a signature on anything else does not count. */
  #signature(authority: number, body: DescriptorBody, { descriptor }: DrawnBuffer): readonly Endorsement[] {
    const { ports, policy } = this.#options;
    const { endorsements } = descriptor;
    if (!isEndorsedByOne(ports.suite, descriptorCodec, policy, { ...body, endorsements }, authority))
      throw new AuthorityUnreachable('it did not sign the planned buffer');
    return endorsements;
  }
}

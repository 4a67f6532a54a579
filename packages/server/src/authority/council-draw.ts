/**
 * Draws buffers together with several authorities. A descriptor counts only where everybody with a part in it signed it, so one that
 * offers a part and does not sign could stop every draw: it is left out of the next one.
 */
import { equalBytes } from '@basa/masking';
import type { DrawnBuffer, ModelEntry, Offer, ServerPorts, TaskId, TaskPolicy } from '@basa/protocol';
import { agreedOn, descriptorCodec, isEndorsedByOne, listsOf, millis, slotKeysProblem } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { AuthorityLink } from './authority-link.ts';
import { AuthorityUnreachable } from './authority-link.ts';
import type { Answered } from './gather.ts';
import { gather } from './gather.ts';

export interface Member {
  readonly authority: number;
  readonly link: AuthorityLink;
}

export interface CouncilDrawOptions {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly ports: ServerPorts;
  /** How long offers are waited for that are not needed. */
  readonly graceMs: number;
  readonly clock: () => number;
}

/** How long a signature is waited for once enough others signed. */
const SIGN_GRACE_MS = 2_000;
/** How long draws go without an authority that did not sign one. */
const LEFT_OUT_MS = 60_000;

export class CouncilDraw {
  readonly #options: CouncilDrawOptions;
  /** Until when each of them is left out. */
  readonly #leftOut = new Map<number, number>();

  constructor(options: CouncilDrawOptions) {
    this.#options = options;
  }

  /** Throws where fewer than `threshold` authorities sign. */
  async draw(members: readonly Member[], model: ModelEntry): Promise<DrawnBuffer> {
    const { authorities, threshold } = this.#options.policy;
    for (let left = authorities.length - threshold; left >= 0; left--) {
      const drawn = await this.#attempt(members, model);
      if (drawn !== undefined) return drawn;
    }
    throw new AuthorityUnreachable('authorities that offered a part did not sign the buffer');
  }

  /** Undefined where enough signed, but not all that have a part. Each draw has new offers and a new nonce: what was signed is used up. */
  async #attempt(members: readonly Member[], model: ModelEntry): Promise<DrawnBuffer | undefined> {
    const { task, policy, clock } = this.#options;
    const offers = this.#willing(await this.#offers(members));
    const parts = offers.map(({ answer }) => answer.part);
    const plan = { parts, expiry: millis(clock() + policy.openMs) };
    const nonce = nodeRandomBytes(16);
    const asked = members.filter(({ authority }) => parts.some((part) => part.authority === authority));
    const signed = await gather(
      asked.map(({ authority, link }) => ({
        authority,
        ask: async () => this.#checked(authority, await link.drawBuffer({ task, nonce, model, plan: [plan] })),
      })),
      { needed: policy.threshold, graceMs: SIGN_GRACE_MS },
    );
    const descriptor = agreedOn(
      descriptorCodec,
      policy,
      signed.map(({ answer }) => answer),
    );
    if (descriptor === undefined) throw new AuthorityUnreachable('they signed different buffers');
    const signers = new Set(descriptor.endorsements.map(({ authority }) => authority));
    for (const { authority } of asked) if (!signers.has(authority)) this.#leftOut.set(authority, clock() + LEFT_OUT_MS);
    if (signers.size < parts.length) return undefined;
    return { descriptor, slotKeys: listsOf(offers.map(({ answer }) => answer)) };
  }

  #offers(members: readonly Member[]): Promise<readonly Answered<Offer>[]> {
    const { task, policy, graceMs } = this.#options;
    return gather(
      members.map(({ authority, link }) => ({
        authority,
        ask: async () => this.#usable(authority, await link.offer(task)),
      })),
      { needed: policy.threshold, graceMs },
    );
  }

  /** Without those that did not sign lately, as long as enough are left. */
  #willing(offers: readonly Answered<Offer>[]): readonly Answered<Offer>[] {
    const { clock, policy } = this.#options;
    const now = clock();
    const willing = offers.filter(({ authority }) => (this.#leftOut.get(authority) ?? now) <= now);
    return willing.length >= policy.threshold ? willing : offers;
  }

  /** A part of its own, with the list that it names: one that is wrong would spoil the buffer for all. */
  #usable(authority: number, offer: Offer): Offer {
    const { ports, policy, task } = this.#options;
    const { engine, bufferSize } = policy;
    const { part, slotKeys } = offer;
    const problem = slotKeysProblem(ports.suite, { engine, bufferSize, parts: [part] }, slotKeys);
    if (problem !== undefined) throw new AuthorityUnreachable(`its list of slot keys is wrong: ${problem.detail}`);
    if (part.authority !== authority || !equalBytes(offer.task, task))
      throw new AuthorityUnreachable('its offer is not its own part of a buffer of this task');
    return offer;
  }

  #checked(authority: number, { descriptor }: DrawnBuffer): DrawnBuffer['descriptor'] {
    const { ports, policy } = this.#options;
    if (!isEndorsedByOne(ports.suite, descriptorCodec, policy, descriptor, authority))
      throw new AuthorityUnreachable('it gave a buffer without its own good signature');
    return descriptor;
  }
}

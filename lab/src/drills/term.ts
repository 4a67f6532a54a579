/** Does the same as the commands of `basa succession`: a key is named, it accepts, authorities sign, and all parties get the term. */
import { AuthorityOperator } from '@basa/client/operator';
import { fromHex, type Signer } from '@basa/masking';
import { currentHash, millis, recoverTerm, type TaskId, type Term, type TermBody } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Drill } from './drill.ts';

/** The wait of the policy. */
export const WAIT_MS = 10_000;
/** For signatures, and for devices to see the term before it takes effect. */
const SPARE_MS = 5_000;

export interface TermWish {
  readonly named: Pick<TermBody, 'seat' | 'key' | 'address'>;
  accept(body: TermBody): Promise<Uint8Array>;
  /** The addresses of the authorities that sign. */
  readonly signers: readonly string[];
  /** The addresses of the authorities that get the term. */
  readonly listeners: readonly string[];
  /** Signs if the authorities are too few. */
  readonly recovery: Signer;
}

export function operatorAt({ basa }: Drill, url: string): AuthorityOperator {
  return new AuthorityOperator({ url, token: basa.token });
}

export function unsigned(body: TermBody): Term {
  return { ...body, accepted: new Uint8Array(64), recovery: undefined, endorsements: [] };
}

export async function publishedTerm(drill: Drill, wish: TermWish): Promise<Term> {
  const { basa } = drill;
  const body: TermBody = {
    task: fromHex(basa.task) as TaskId,
    number: 1,
    previous: currentHash(nodeSuite, basa.policy),
    ...wish.named,
    last: undefined,
    effective: millis(Date.now() + WAIT_MS + SPARE_MS),
  };
  let term: Term = { ...unsigned(body), accepted: await wish.accept(body) };
  for (const url of wish.signers) term = await operatorAt(drill, url).signTerm(basa.task, term);
  if (wish.signers.length < basa.policy.threshold || basa.policy.threshold === 1)
    term = { ...term, recovery: recoverTerm(nodeSuite, wish.recovery, body) };
  const line = { policy: basa.policy, terms: [term] };
  await basa.server.showLine(basa.task, line);
  for (const url of wish.listeners) await operatorAt(drill, url).showLine(basa.task, line);
  drill.say(`${wish.signers.length} authorities signed the term, which takes effect in ${WAIT_MS + SPARE_MS} ms`);
  return term;
}

import {
  acceptTerm,
  type Ctx,
  currentHash,
  endorse,
  inTerm,
  joined,
  type ModelEntry,
  millis,
  modelEntryCodec,
  type TaskPolicy,
  type Term,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { type Federation, type FederationAuthority, granted } from '@basa/simulator';
import { severalAuthorities } from '@basa/testkit/core/several.ts';

export const WAIT_MS = 60_000;
export const HEAD = { branch: new Uint8Array(16), sequence: 1, revocations: 0, hash: new Uint8Array(32) };

export function federation(): Federation {
  return severalAuthorities({ policy: { succession: { waitMs: WAIT_MS, recoveryHash: undefined } } });
}

/** Seat 0 is lost, and a new key takes it. */
export function proposal(world: Federation, change: Partial<Term> = {}, key = world.signer()): Term {
  const body = {
    task: world.task,
    number: 1,
    previous: currentHash(suite, world.policy),
    seat: 0,
    key: key.publicKey,
    address: 'https://new.example',
    last: undefined,
    effective: millis(world.now + WAIT_MS),
    ...change,
  };
  return { ...body, accepted: acceptTerm(suite, key, body), recovery: undefined, endorsements: [] };
}

export function signed(world: Federation, term: Term): Term {
  return world.authorities.slice(1).reduce((so, one) => granted(one.persist(one.core.signTerm(so, world.now))), term);
}

/** All but the lost one have begun the term. */
export function switched(world: Federation, term: Term): TaskPolicy {
  const line = { policy: world.policy, terms: [term] };
  for (const one of world.authorities.slice(1)) {
    granted(one.persist(one.core.followLine(line, world.now)));
    granted(one.persist(one.core.tick(term.effective)));
  }
  return inTerm(suite, world.policy, term);
}

/** A version that enough authorities signed in the first term, and none of them was shown. */
export function unheard(world: Federation, version = 1): ModelEntry {
  const old = second(world).core.newestModel(world.task) as ModelEntry;
  const body = { ...old, version, sums: [new Uint8Array(32) as Ctx], endorsements: [] };
  const parts = world.authorities.map(({ ports }) => endorse(modelEntryCodec, world.policy, ports.signer, body));
  return { ...body, endorsements: joined(parts.flatMap(({ endorsements }) => endorsements)) };
}

export const second = (world: Federation): FederationAuthority => world.authorities[1] as FederationAuthority;

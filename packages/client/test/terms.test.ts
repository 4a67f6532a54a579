/** The terms that a device asks for, stores and follows, and those that it trusts because the application names their authorities. */
import { toHex } from '@basa/masking';
import {
  type DeviceTerms,
  inTerm,
  type Line,
  millis,
  NO_TERMS,
  SERVER_SEAT,
  type TaskPolicy,
  type Term,
  termNumber,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { GOOD_POLICY } from '@basa/testkit/vectors/policies.ts';
import { describe, expect, it } from 'vitest';
import { RefusedError, UnreachableError } from '../src/errors.ts';
import type { Member } from '../src/services/authorities.ts';
import {
  areSeats,
  broughtSeats,
  type KnownAuthority,
  keptPolicy,
  membersIn,
  Terms,
  type TermsSource,
} from '../src/session/terms.ts';

const signerOf = (n: number) => createNodeSigner(new Uint8Array(32).fill(n));
const seats = [1, 2, 3, 4].map(signerOf);

const WAIT_MS = 160_000;
const first = {
  ...GOOD_POLICY,
  authorities: seats.map(({ publicKey }) => publicKey),
  threshold: 3,
  succession: { waitMs: WAIT_MS, recoveryHash: undefined },
};
const term = signedTerm(first, { key: signerOf(11), signers: seats });
const signal = new AbortController().signal;

/** A device at the time `now`, and everything that it does in order. */
function scene(waitMs = WAIT_MS) {
  const did: string[] = [];
  const world = {
    now: 0,
    did,
    terms: [] as readonly Term[],
    answer: async (): Promise<Line> => ({ policy: first, terms: world.terms }),
    pins: { policy: { ...first, succession: { waitMs, recoveryHash: undefined } } },
    membersOf: (): readonly Member[] => [],
    state: {
      terms: NO_TERMS as DeviceTerms,
      keepTerms: async (terms: DeviceTerms) => {
        did.push(`keeps term ${terms.followed} of ${terms.seen.length}`);
        world.state.terms = terms;
      },
    },
  };
  const source = {
    outside: { suite: nodeSuite, now: () => world.now },
    server: {
      line: () => {
        did.push('asks');
        return world.answer();
      },
    },
    state: world.state,
    first: world.pins.policy,
    isTrusted: () => false,
    pins: world.pins,
    authorities: { follow: () => did.push('follows') },
    standings: { forget: () => did.push('forgets') },
    membersOf: () => world.membersOf(),
  } as unknown as TermsSource;
  return { world, device: new Terms(source) };
}

describe('a device', () => {
  it('stores a term when it sees it, and follows it once, at its time', async () => {
    const { world, device } = scene();
    world.terms = [term];
    await device.follow(signal);
    expect(world.did.splice(0)).toEqual(['asks', 'keeps term 0 of 1']);
    world.now = term.effective;
    await device.follow(signal);
    expect(world.did.splice(0)).toEqual(['asks', 'keeps term 1 of 1', 'follows', 'forgets']);
    expect(termNumber(world.pins.policy)).toBe(1);
    await device.follow(signal);
    expect(world.did).toEqual(['keeps term 1 of 1']);
    expect(termNumber(keptPolicy({ suite: nodeSuite }, first, world.state as never))).toBe(1);
    const { succession: _, ...fixed } = first;
    expect(keptPolicy({ suite: nodeSuite }, fixed, world.state as never)).toBe(fixed);
  });

  it.each([
    ['a twentieth of the wait', WAIT_MS, 8_000],
    ['a second at least', 1_000, 1_000],
    ['a minute at most', 10_000_000, 60_000],
  ])('asks for terms in intervals of %s, and at once if it has to', async (_, waitMs, everyMs) => {
    const { world, device } = scene(waitMs);
    const asksAt = async (now: number, when?: 'now') => {
      world.now = now;
      await device.follow(signal, when);
      return world.did.splice(0).includes('asks');
    };
    expect(await asksAt(0)).toBe(true);
    expect(await asksAt(everyMs - 1)).toBe(false);
    expect(await asksAt(everyMs)).toBe(true);
    expect(await asksAt(everyMs, 'now')).toBe(true);
    // The clock was set back.
    expect(await asksAt(0)).toBe(true);
  });

  it('follows the terms that it stored if the server does not answer, and asks again', async () => {
    const { world, device } = scene();
    world.state.terms = { ...NO_TERMS, seen: [{ term, seenAt: millis(0) }] };
    world.answer = () => Promise.reject(new UnreachableError('https://server.example', new Error('down')));
    world.now = term.effective;
    await device.follow(signal);
    expect(termNumber(world.pins.policy)).toBe(1);
    await device.follow(signal);
    expect(world.did.filter((one) => one === 'asks')).toHaveLength(2);
  });

  it('ends with any other failure, if it is aborted, and with a line that it refuses', async () => {
    const { world, device } = scene();
    world.answer = () => Promise.reject(new TypeError('a bug'));
    await expect(device.follow(signal)).rejects.toThrow('a bug');
    world.answer = () => Promise.reject(new UnreachableError('https://server.example', new Error('down')));
    await expect(device.follow(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    world.answer = async () => ({ policy: first, terms: [{ ...term, accepted: new Uint8Array(64) }] });
    await expect(device.follow(signal)).rejects.toMatchObject({ reason: 'term-invalid' });
    expect(world.did.filter((one) => one !== 'asks')).toEqual([]);
  });

  it('stores the time at which it heard from enough authorities, in intervals of a sixteenth of the wait', async () => {
    const { world, device } = scene();
    const heard: (number | undefined)[] = [];
    for (const now of [5, 10_004, 10_005, 10_006, 5]) {
      world.now = now;
      await device.heard();
      heard.push(world.state.terms.heardAt);
    }
    expect(heard).toEqual([5, 5, 10_005, 10_005, 5]);
  });
});

it('a device asks for the terms again after a line that it refused', async () => {
  const { world, device } = scene();
  world.terms = [{ ...term, accepted: new Uint8Array(64) }];
  await expect(device.follow(signal)).rejects.toMatchObject({ reason: 'term-invalid' });
  world.terms = [];
  await device.follow(signal);
  await device.follow(signal);
  expect(world.did.filter((one) => one === 'asks')).toHaveLength(2);
});

it('a device that only waits for a place hears from its authorities before it has been away for too long', () => {
  const mustHear = (now: number, heardAt: number | undefined, threshold = 3): boolean => {
    const { world, device } = scene(1000);
    world.now = now;
    world.pins.policy = { ...world.pins.policy, threshold };
    world.state.terms = { ...NO_TERMS, ...(heardAt === undefined ? {} : { heardAt: millis(heardAt) }) };
    return device.mustHear;
  };
  expect([1000, 1001].map((now) => mustHear(now, 0))).toEqual([false, true]);
  expect(mustHear(10 ** 9, undefined)).toBe(false);
  expect(mustHear(10 ** 9, 0, 1)).toBe(false);
});

it('the authorities of a policy are the same in any order, and no more or fewer', () => {
  const [a, b] = first.authorities as [Uint8Array, Uint8Array];
  const policy = { authorities: [a, b] };
  expect(
    [
      [a, b],
      [b, a],
    ].map((keys) => areSeats(policy, keys)),
  ).toEqual([true, true]);
  expect([[a], [a, a], [a, b, b]].map((keys) => areSeats(policy, keys))).toEqual([false, false, false]);
});

it('an application that names the authorities trusts the term that brought them, and no other key of the server', () => {
  const policy = first;
  const early = inTerm(nodeSuite, policy, signedTerm(policy, { seat: SERVER_SEAT, key: signerOf(11), signers: seats }));
  const moved = inTerm(nodeSuite, early, signedTerm(early, { seat: 0, key: signerOf(12), signers: seats }));
  const signers = [signerOf(12), ...seats.slice(1)];
  const late = inTerm(nodeSuite, moved, signedTerm(moved, { seat: SERVER_SEAT, key: signerOf(13), signers }));
  const all = [policy, early, moved, late];
  expect(all.map((one) => broughtSeats(one, policy.authorities))).toEqual([false, false, false, false]);
  expect(all.map((one) => broughtSeats(one, moved.authorities))).toEqual([false, false, true, false]);
});

it('an address that the device must not use costs only its authority, unless too few others are left', () => {
  const later = inTerm(nodeSuite, first, term);
  const clientAt = ({ key, url }: { readonly key: Uint8Array; readonly url: string }): KnownAuthority => {
    if (url === term.address) throw new RefusedError('plain-http');
    return { key, client: {} as KnownAuthority['client'] };
  };
  const named = first.authorities.map((key) => [toHex(key), clientAt({ key, url: '' })] as const);
  const seen = [{ term, seenAt: millis(0) }];
  const known = new Map(named);
  const askedIn = (policy: TaskPolicy) => membersIn(policy, seen, known, clientAt).map(({ authority }) => authority);
  expect(askedIn(first)).toEqual([0, 1, 2, 3]);
  expect(askedIn(later)).toEqual([1, 2, 3]);
  known.delete(toHex(first.authorities[1] as Uint8Array));
  expect(() => askedIn(later)).toThrow('plain http');
});

it('a device stays in its term if it cannot ask the authorities of the next one', async () => {
  const { world, device } = scene();
  [world.terms, world.now] = [[term], term.effective];
  world.membersOf = () => {
    throw new RefusedError('plain-http');
  };
  for (let times = 1; times <= 2; times++) {
    await expect(device.follow(signal)).rejects.toMatchObject({ reason: 'plain-http' });
    expect(termNumber(world.pins.policy)).toBe(0);
  }
});

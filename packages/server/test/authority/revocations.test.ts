/** A server asks its authorities for the devices that they have revoked, and keeps what it was told. */
import type { UserId } from '@basa/protocol';
import { MAX_REVOCATIONS } from '@basa/protocol/internal/wire/devices.ts';
import { ONE_SHOT_DEFAULTS, type TaskPolicy } from '@basa/protocol/policy';
import { beforeEach, expect, it } from 'vitest';
import { checkRevoked, lookForRevocations } from '../../src/authority/authorities.ts';
import type { AuthorityLink } from '../../src/authority/authority-link.ts';
import type { Store } from '../../src/store/store.ts';
import { bytes, task, userOf } from '../support/store-samples.ts';
import { volatileStore } from '../support/volatile-store.ts';

let store: Store;
beforeEach(async () => {
  ({ store } = await volatileStore(task, Date.now));
});

class FakeAuthority {
  readonly publicKey: Uint8Array;
  list: readonly UserId[] = [];
  isAway = false;

  constructor(number: number) {
    this.publicKey = bytes(number);
  }

  async revocations(): Promise<readonly UserId[]> {
    if (this.isAway) throw new Error('it is away');
    return this.list;
  }
}

/** What a server does every minute. */
function look(...fakes: readonly FakeAuthority[]): Promise<void> {
  return lookForRevocations(store, fakes as unknown as readonly AuthorityLink[]);
}

function policyOf(fakes: readonly FakeAuthority[], tolerated: number): TaskPolicy {
  const authorities = fakes.map(({ publicKey }) => publicKey);
  return { authorities, oneShot: { ...ONE_SHOT_DEFAULTS, tolerated } } as unknown as TaskPolicy;
}

const statusOf = (policy: TaskPolicy, user: UserId): Promise<'free' | 'revoked'> =>
  checkRevoked(store, policy, user).then(
    () => 'free',
    (error) => {
      expect(error).toMatchObject({ document: { type: 'urn:basa:problem:revoked', status: 403 } });
      return 'revoked';
    },
  );

it.each([0, 1, 2])(
  'refuses a device that more authorities have revoked than the %d that may lie',
  async (tolerated) => {
    const all = [1, 2, 3, 4].map((n) => new FakeAuthority(n));
    const policy = policyOf(all, tolerated);
    for (const [n, one] of all.entries()) {
      one.list = [userOf(0)];
      await look(...all);
      expect(await statusOf(policy, userOf(0))).toBe(n + 1 > tolerated ? 'revoked' : 'free');
    }
    expect(await statusOf(policy, userOf(1))).toBe('free');
  },
);

it('counts only the authorities of the task', async () => {
  const [mine, other] = [new FakeAuthority(1), new FakeAuthority(2)];
  other.list = [userOf(0)];
  await look(mine, other);
  expect(await statusOf(policyOf([mine], 0), userOf(0))).toBe('free');
  expect(await statusOf(policyOf([other], 0), userOf(0))).toBe('revoked');
});

it('forgets no device when an authority does, and learns new ones', async () => {
  const authority = new FakeAuthority(1);
  const policy = policyOf([authority], 0);
  for (const list of [[userOf(0)], [userOf(1)], []]) {
    authority.list = list;
    await look(authority);
  }
  for (const user of [userOf(0), userOf(1)]) expect(await statusOf(policy, user)).toBe('revoked');
});

it('learns what the others say if one is away, and reports that', async () => {
  const [away, here] = [new FakeAuthority(1), new FakeAuthority(2)];
  away.isAway = true;
  here.list = [userOf(0)];
  await expect(look(away, here)).rejects.toThrow('it is away');
  expect(await statusOf(policyOf([here], 0), userOf(0))).toBe('revoked');
});

it('keeps a limited number of devices of an authority that invents them', async () => {
  const authority = new FakeAuthority(1);
  const invented = (from: number) =>
    Array.from({ length: MAX_REVOCATIONS - 1 }, (_, n) => {
      const user = new Uint8Array(32);
      new DataView(user.buffer).setUint32(0, from + n);
      return user as UserId;
    });
  for (const from of [0, 1_000_000]) {
    authority.list = invented(from);
    await look(authority);
  }
  expect(await store.revocationsOf(authority.publicKey)).toHaveLength(MAX_REVOCATIONS);
});

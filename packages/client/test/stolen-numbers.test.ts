/** Numbers that only a stolen key signed do not outlive the term of that key on a device. */
import {
  type AuthorityStanding,
  beaconCodec,
  type Council,
  endorse,
  epochCodec,
  inTerm,
  modelEntryCodec,
  NO_TERMS,
  receiveStandings,
  signInTerm,
  type TaskPolicy,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { granted, reasonOf } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { expect, it } from 'vitest';
import { DeviceState } from '../src/device/device-state.ts';
import { memoryStore } from './support/connect.ts';

const HUGE = 2 ** 52;
const DELTA = new Uint8Array(32).fill(1);

type Signer = Parameters<typeof signInTerm>[2];

/** A task with one authority, its policy in the next term, and a device with a store. */
async function scene() {
  const first = new ShotWorld();
  const [recovery, successor] = [first.signer(), first.signer()];
  const recoveryHash = suite.sha256(recovery.publicKey);
  const world = new ShotWorld({ count: 1, succession: { waitMs: 3_600_000, recoveryHash } });
  const term = signedTerm(world.policy, { isLost: true, key: successor, signers: [], recovery });
  const store = memoryStore();
  const told = granted(world.authority(0).standing());
  /** The statements with these numbers, signed by this key in the term of the policy. */
  const signed = (policy: TaskPolicy & Council, key: Signer, number: number, version: number): AuthorityStanding => {
    const { beacon, epoch } = told;
    const entry = endorse(modelEntryCodec, policy, key, { ...beacon.entry, version });
    return {
      authority: 0,
      epoch: signInTerm(epochCodec, policy, key, { ...epoch, number }),
      beacon: signInTerm(beaconCodec, policy, key, { ...beacon, entry }),
    };
  };
  const receive = (state: DeviceState, policy: TaskPolicy, standing: AuthorityStanding) => {
    const question = { suite, policy, task: world.task, now: world.now, isPast: () => false };
    return state.take(receiveStandings(question, state, [standing]));
  };
  const seen = [{ term, seenAt: world.now }];
  const { policy } = world;
  return {
    policy,
    next: inTerm(suite, policy, term),
    thief: world.authority(0).base.ports.signer,
    successor,
    seen,
    open: () => DeviceState.open(suite, store),
    signed,
    receive,
  };
}

it.each([
  ['an epoch number', HUGE, 1],
  ['a version of the model', 1, HUGE],
])(
  'a device follows the successor of a stolen key that signed %s without end, also after a restart',
  async (_, number, version) => {
    const { policy, next, thief, successor, seen, open, signed, receive } = await scene();
    let state = await open();
    granted(await receive(state, policy, signed(policy, thief, number, version)));
    // In the term of the stolen key the numbers never go back.
    expect(reasonOf(await receive(state, policy, signed(policy, thief, 1, 1)))).toMatch(/stale/);
    await state.keepTerms({ ...NO_TERMS, seen, heardAt: undefined });
    expect(reasonOf(await receive(state, policy, signed(policy, thief, 1, 1)))).toMatch(/stale/);
    await state.keepTerms({ ...NO_TERMS, seen, followed: 1 });
    await state.close();
    state = await open();
    expect(granted(await receive(state, next, signed(next, successor, 3, 2))).entry.version).toBe(2);
    // The successor's own numbers never go back either: in this process, and after all that lasts was written again.
    await state.dropSession();
    await state.close();
    for (const again of [state, await open()]) {
      const stale = [signed(next, successor, 2, 2), signed(next, successor, 3, 1)];
      for (const one of stale) expect(reasonOf(await receive(again, next, one))).toMatch(/stale/);
    }
  },
);

it('a device that enters a term forgets what it saw at once, and no update that it gave', async () => {
  const { policy, next, thief, successor, seen, open, signed, receive } = await scene();
  const state = await open();
  granted(await receive(state, policy, signed(policy, thief, HUGE, HUGE)));
  const given = { ctx: DELTA as never, joinTag: DELTA as never, version: 1, epochs: [] };
  const record = { kind: 'committed' as const, deltaId: DELTA, ...given };
  const ledger = { ...state.ledger, deltas: new Map([['01'.repeat(32), given]]) };
  await state.take({ state: { ledger, session: undefined }, records: [record], answer: undefined, events: [] });
  await state.keepTerms({ ...NO_TERMS, seen, followed: 1 });
  expect(granted(await receive(state, next, signed(next, successor, 0, 0))).entry.version).toBe(0);
  for (const one of [state, await open()]) {
    expect([...one.ledger.deltas.values()]).toEqual([given]);
    expect(one.ledger.recent.map(({ version }) => version)).toEqual([0]);
  }
});

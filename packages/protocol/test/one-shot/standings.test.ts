/** A device believes what enough authorities signed just now, and never goes back behind what it has seen. */
import {
  type AuthorityStanding,
  beaconCodec,
  endorse,
  epochCodec,
  isEpochOf,
  millis,
  modelEntryCodec,
  receiveStandings,
  standingsCodec,
} from '@basa/protocol';
import type { ShotDevice } from '@basa/simulator';
import { granted, reasonOf } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { voted, WEAK_KEYS } from './scene.ts';

const FRESH = 300_000;
const HOUR = 3_600_000;

function scene(): { world: ShotWorld; device: ShotDevice } {
  const world = new ShotWorld();
  return { world, device: world.device() };
}

/** The standing of the authority with these changes, signed by it. */
function changed(
  world: ShotWorld,
  index: number,
  { epoch = {}, beacon = {} }: { epoch?: object; beacon?: object },
): AuthorityStanding {
  const { signer } = world.authority(index).base.ports;
  const before = granted(world.authority(index).standing());
  const epochBody = { ...before.epoch, ...epoch };
  const beaconBody = { ...before.beacon, ...beacon };
  return {
    ...before,
    epoch: { ...epochBody, signature: signer.sign(epochCodec.statement(epochBody)) },
    beacon: { ...beaconBody, signature: signer.sign(beaconCodec.statement(beaconBody)) },
  };
}

/** Two good standings and this one: the third of three that are needed. */
function withThird(world: ShotWorld, device: ShotDevice, third: AuthorityStanding) {
  return device.receive([...world.standings().slice(0, 2), third]);
}

describe('standings', () => {
  it('of three authorities suffice; those of two, or of one of them twice, do not', () => {
    const { world, device } = scene();
    const all = world.standings();
    expect(reasonOf(device.receive(all.slice(0, 2)))).toBe('standings-stale');
    expect(reasonOf(device.receive([...all.slice(0, 2), all[1] as AuthorityStanding]))).toBe('standings-stale');
    const [first, second] = all as [AuthorityStanding, AuthorityStanding];
    expect(reasonOf(device.receive([first, first, second, second]))).toBe('standings-stale');
    expect(reasonOf(device.receive([]))).toBe('standings-stale');
    expect(granted(device.receive(all.slice(1))).epochs).toHaveLength(3);
    expect(granted(device.receive(all)).epochs).toHaveLength(4);
    const bytes = standingsCodec.encode({ standings: all });
    expect(standingsCodec.decode(bytes)).toEqual({ standings: all });
  });

  it.each<[string, string, { epoch?: object; beacon?: object }]>([
    ['an epoch of another task', 'epoch-invalid', { epoch: { task: new Uint8Array(32) } }],
    ['an epoch under another index', 'epoch-invalid', { epoch: { authority: 3 } }],
    ['a time under another index', 'epoch-invalid', { beacon: { authority: 3 } }],
    ...WEAK_KEYS.map((key): [string, string, object] => [
      `the weak key ${key[0]}`,
      'epoch-invalid',
      { epoch: { key } },
    ]),
    ['an epoch that lasts too long', 'epoch-invalid', { epoch: { closes: millis(20_000_000) } }],
    [
      'an epoch that is over',
      'epoch-over',
      { epoch: { opens: millis(10_000_000 - HOUR), closes: millis(10_000_000) } },
    ],
    [
      'an epoch that opens too late',
      'epoch-over',
      { epoch: { opens: millis(10_000_001 + FRESH), closes: millis(10_000_001 + FRESH + HOUR) } },
    ],
    ['an old time', 'standings-stale', { beacon: { at: millis(10_000_000 - FRESH - 1) } }],
    ['a time to come', 'standings-stale', { beacon: { at: millis(10_000_001 + FRESH) } }],
  ])('with %s do not count (%s)', (_, reason, change) => {
    const { world, device } = scene();
    expect(reasonOf(withThird(world, device, changed(world, 2, change)))).toBe(reason);
    expect(device.own.ledgerRecords).toEqual([]);
  });

  it('with an epoch that opens a little later count: the clock of the device may be behind', () => {
    const { world, device } = scene();
    const opens = world.now + FRESH;
    const third = changed(world, 2, { epoch: { opens: millis(opens), closes: millis(opens + HOUR) } });
    expect(granted(withThird(world, device, third)).epochs).toHaveLength(3);
  });

  it.each([-FRESH, 0, FRESH])('with a time that is off by %i ms count', (off) => {
    const { world, device } = scene();
    const third = changed(world, 2, { beacon: { at: millis(world.now + off) } });
    expect(granted(withThird(world, device, third)).epochs).toHaveLength(3);
  });

  it('signed by somebody else, or about an entry that too few signed, do not count', () => {
    const { world, device } = scene();
    const third = world.standings()[2] as AuthorityStanding;
    const zeros = new Uint8Array(64);
    const { epoch, beacon } = third;
    expect(reasonOf(withThird(world, device, { ...third, epoch: { ...epoch, signature: zeros } }))).toBe(
      'epoch-invalid',
    );
    expect(reasonOf(withThird(world, device, { ...third, beacon: { ...beacon, signature: zeros } }))).toBe(
      'model-not-logged',
    );
    expect(reasonOf(withThird(world, device, { ...third, authority: 9 }))).toBe('epoch-invalid');
    const entry = { ...beacon.entry, endorsements: beacon.entry.endorsements.slice(2) };
    expect(reasonOf(withThird(world, device, changed(world, 2, { beacon: { entry } })))).toBe('model-not-logged');
    const foreign = { ...beacon.entry, task: new Uint8Array(32) as never };
    expect(reasonOf(withThird(world, device, changed(world, 2, { beacon: { entry: foreign } })))).toBe(
      'model-not-logged',
    );
  });

  it('say by how much the clocks differ, so that a wrong clock of the device is found', () => {
    const { world, device } = scene();
    const old = world.standings();
    world.pass(FRESH + 1000);
    expect(device.receive(old)).toMatchObject({
      reason: 'standings-stale',
      detail: 'its signed time is 301 s before this clock; 300 s are allowed',
    });
    world.pass(-2 * (FRESH + 1000));
    expect(device.receive(old)).toMatchObject({ detail: expect.stringContaining('301 s after this clock') });
  });

  it('with an older head than the device has seen do not count', () => {
    const { world, device } = scene();
    const { suite } = world.environment.tools;
    const { policy, task, now } = world;
    const question = { suite, policy, task, now, isPast: (_: unknown, authority: number) => authority === 2 };
    expect(reasonOf(receiveStandings(question, device.own, world.standings().slice(0, 3)).answer)).toBe('model-stale');
    expect(granted(receiveStandings(question, device.own, world.standings()).answer).epochs).toHaveLength(3);
  });

  it('never lead back to an earlier epoch of an authority, also after a restart of the device', () => {
    const { world, device } = scene();
    const before = world.standings();
    world.pass(45 * 60_000);
    world.openEpochs();
    const after = world.standings();
    granted(device.receive(after));
    device.own.restart();
    expect([...device.own.ledger.epochs]).toEqual(after.map(({ authority, epoch }) => [authority, epoch.number]));
    const mixed = (index: number) => ({
      ...(after[index] as AuthorityStanding),
      epoch: (before[index] as AuthorityStanding).epoch,
    });
    expect(reasonOf(device.receive([0, 1, 2, 3].map(mixed)))).toBe('standings-stale');
    expect(granted(device.receive([mixed(0), ...after.slice(1)])).epochs).toHaveLength(3);
    // Seen twice, it is written once.
    const { length } = device.own.ledgerRecords;
    granted(device.receive(after));
    expect(device.own.ledgerRecords).toHaveLength(length);
  });

  it('that name another model of a version that the device has seen do not count, nor do any in a task of another mode', () => {
    const { world, device } = scene();
    const standings = world.standings();
    granted(device.receive(standings));
    const { entry } = (standings[0] as AuthorityStanding).beacon;
    const other = { ...entry, modelHash: new Uint8Array(32).fill(4) };
    const parts = world.authorities.map(({ base }) => endorse(modelEntryCodec, world.policy, base.ports.signer, other));
    const forged = { ...other, endorsements: parts.flatMap(({ endorsements }) => endorsements) };
    const all = world.indices.map((index) => changed(world, index, { beacon: { entry: forged } }));
    expect(reasonOf(device.receive(all))).toBe('other-model');
    const { task, now } = world;
    const policy = { ...world.policy, oneShot: undefined };
    const question = { suite: world.environment.tools.suite, policy, task, now, isPast: () => false };
    expect(reasonOf(receiveStandings(question, device.own, standings).answer)).toBe('policy-invalid');
    expect(standings.map(({ epoch }) => isEpochOf(question.suite, policy, epoch))).toEqual(Array(4).fill(false));
  });

  it('never lead back to an earlier version, and lead to the newest that one of them names', () => {
    const { world, batch, votes } = voted();
    const device = world.device();
    const old = world.standings();
    for (const index of world.indices) granted(world.server.releaseBy(index, batch, { votes }));
    world.append({ sums: [world.server.closing(batch).ctx], spoilt: [] });
    const fresh = world.standings();
    const one = [...old.slice(0, 3), fresh[3] as AuthorityStanding];
    expect(granted(device.receive(one)).entry.version).toBe(1);
    expect(reasonOf(device.receive(old))).toBe('model-stale');
  });
});

/** Epoch keys: when one opens, how long it counts, and that nothing of a lost life of the log is voted for or released. */
import { ascii, toHex } from '@basa/masking';
import { AttributeAuthority, ENGINE, type Epoch, type LiveEpoch } from '@basa/protocol';
import type { StoredShot } from '@basa/simulator';
import { granted, reasonOf, type ShotAuthority } from '@basa/simulator';
import { reloaded } from '@basa/testkit/core/one-shot/shot-requests.ts';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { type Inspected, inspected, verdicts, voted } from './scene.ts';

const HOUR = 3_600_000;

/** The authority comes back without a witness of its log. */
function restored({ world }: Pick<Inspected, 'world'>, index = 0): void {
  const authority = world.authority(index);
  authority.base.witness = undefined;
  authority.restart();
}

/** The newest epoch, after one was opened if that is due. */
function opened(authority: ShotAuthority): Epoch {
  authority.openEpoch();
  return (authority.base.core.liveEpochs.at(-1) as LiveEpoch).epoch;
}

const KEYS = { key: new Uint8Array(32).fill(9), kemKey: undefined };

describe('an epoch', () => {
  it('opens when half of the one before is over, with a later number', () => {
    const world = new ShotWorld();
    const authority = world.authority(0);
    const first = authority.base.core.liveEpochs[0]?.epoch as Epoch;
    expect(first.closes - first.opens).toBe(HOUR);
    expect(first.number).toBe(first.opens / 1000);
    world.pass(HOUR / 2 - 1);
    expect(authority.base.core.isEpochDue(world.task, world.now)).toBe(false);
    expect(authority.base.core.openEpoch(world.task, KEYS, world.now)).toMatchObject({
      records: [],
      answer: { kind: 'not-due' },
    });
    world.pass(1);
    expect(authority.base.core.isEpochDue(world.task, world.now)).toBe(true);
    expect(opened(authority).number).toBeGreaterThan(first.number);
    expect(authority.base.core.liveEpochs).toHaveLength(2);
  });

  it('is given up two epochs after it closed, and its secret with it', () => {
    const world = new ShotWorld();
    const authority = world.authority(0);
    const [first] = authority.base.core.liveEpochs as [LiveEpoch];
    const isKept = () => authority.secrets.has(toHex(first.epoch.key));
    world.pass(3 * HOUR - 1);
    expect(reasonOf(authority.standing())).toBe('epoch-over');
    authority.tick();
    expect(isKept()).toBe(true);
    world.pass(1);
    authority.tick();
    const ended = authority.base.log.filter(({ kind }) => kind === 'epoch-ended');
    expect(ended).toMatchObject([{ statement: first.statement, how: 'given-up' }]);
    expect(isKept()).toBe(false);
    expect(authority.epochSecret(first.statement)).toBeUndefined();
  });

  it('never opens before a record, even if the clock went back', () => {
    const world = new ShotWorld();
    const authority = world.authority(0);
    world.pass(HOUR);
    const late = opened(authority);
    authority.base.persist(authority.base.core.start(undefined, world.randomBytes(16), world.now));
    world.pass(-2 * HOUR);
    const next = opened(authority);
    expect(next.opens).toBeGreaterThanOrEqual(late.opens);
    expect(next.number).toBeGreaterThan(late.number);
  });

  it('is shown to devices until it closes, with a time that is never before the one at which it opened', () => {
    const world = new ShotWorld();
    const authority = world.authority(0);
    world.pass(-HOUR);
    const { epoch, beacon } = granted(authority.standing());
    expect(beacon.at).toBe(epoch.opens);
    world.pass(2 * HOUR - 1);
    expect(granted(authority.standing()).epoch).toEqual(epoch);
    world.pass(1);
    expect(reasonOf(authority.standing())).toBe('epoch-over');
  });

  it('of one task is not one of another, and is not shown before there is a model', () => {
    const world = new ShotWorld({ count: 1 });
    const { core } = world.authority(0).base;
    const created = core.createTask({ ...world.policy, name: ascii('another') });
    core.apply(created.records);
    const { task } = granted(created.answer);
    expect(core.isEpochDue(task, world.now)).toBe(true);
    core.apply(core.openEpoch(task, KEYS, world.now).records);
    expect(core.isEpochDue(task, world.now)).toBe(false);
    expect(reasonOf(core.standing(task, world.now))).toBe('epoch-over');
  });

  it('has no place in a task of paper mode', () => {
    const { core, ports } = new ShotWorld().authority(0).base;
    const world = new ShotWorld();
    const paper = {
      ...world.policy,
      engine: ENGINE.cpAbe,
      oneShot: undefined,
      authorities: [ports.signer.publicKey],
      threshold: 1,
    };
    const other = new AttributeAuthority(ports);
    const step = other.createTask(paper);
    other.apply(step.records);
    const { task } = granted(step.answer);
    expect(other.isEpochDue(task, world.now)).toBe(false);
    expect(reasonOf(other.openEpoch(task, KEYS, world.now).answer)).toBe('policy-invalid');
    expect(reasonOf(other.standing(task, world.now))).toBe('epoch-over');
    expect(core.isEpochDue(task, world.now)).toBe(false);
  });
});

describe('an authority that was restored', () => {
  it('declares every earlier epoch dead: no vote, no release, backed or not [S11] [S13]', () => {
    const scene = voted();
    const { world, batch, votes, shots } = scene;
    const { server } = world;
    restored(scene);
    expect(world.authority(0).base.log.filter(({ kind }) => kind === 'epoch-ended')).toMatchObject([{ how: 'dead' }]);
    expect(world.authority(0).secrets.size).toBe(0);
    expect(verdicts(server.inspectBy(0, shots))).toEqual(Array(3).fill('abstain: epoch-over'));
    expect(reasonOf(server.releaseBy(0, batch, { votes }))).toBe('epoch-over');
  });

  it('votes for no batch of a dead epoch, also behind the votes of all others [S11] [S13]', () => {
    const scene = inspected();
    const { world, batch } = scene;
    const votes = world.server.votes(batch, [1, 2, 3]);
    const { examined } = world.authority(0);
    const kept = new Map(examined);
    restored(scene);
    for (const [name, one] of kept) examined.set(name, one);
    expect(reasonOf(world.server.voteBy(0, batch, { votes }))).toBe('epoch-over');
    expect(reasonOf(world.server.releaseBy(0, batch, { votes }))).toBe('epoch-over');
  });

  it('notices it by its own epoch that is missing in its log, and by no other epoch [S11]', () => {
    const scene = inspected();
    const { world } = scene;
    const authority = world.authority(0);
    const [lost] = authority.base.core.liveEpochs;
    const epoch = (lost as { epoch: Epoch }).epoch;
    const meet = (shown: Epoch) =>
      granted(
        authority.base.persist(authority.base.core.meetEpoch(shown, world.randomBytes(16), world.now)) as {
          rolledBack: boolean;
        },
      );
    expect(meet(epoch)).toEqual({ rolledBack: false });
    expect(meet({ ...epoch, number: 9_999_999 })).toEqual({ rolledBack: false });
    const foreign = world.authority(1).base.core.liveEpochs[0] as { epoch: Epoch };
    expect(meet(foreign.epoch)).toEqual({ rolledBack: false });
    const before = authority.base.log.filter(({ kind }) => kind !== 'epoch-opened');
    reloaded(authority, before);
    authority.openEpoch();
    expect(authority.base.core.liveEpochs).toHaveLength(1);
    expect(meet(epoch)).toEqual({ rolledBack: true });
    expect(authority.base.core.liveEpochs).toHaveLength(0);
    // It is met once: shown again and again, it must not kill every later epoch.
    authority.openEpoch();
    expect(meet(epoch)).toEqual({ rolledBack: false });
    expect(authority.base.core.liveEpochs).toHaveLength(1);
  });

  it('finds out by its witness, and kills no epoch if the log is whole', () => {
    const { world } = inspected();
    const authority = world.authority(0);
    const witness = authority.base.core.head();
    reloaded(authority);
    expect(authority.base.core.start(witness, world.randomBytes(16), world.now).records).toEqual([]);
    reloaded(authority, authority.base.log.slice(0, -1));
    const step = authority.base.core.start(witness, world.randomBytes(16), world.now);
    expect(step.records.map(({ kind }) => kind)).toEqual(['epoch-ended', 'branch-begun']);
    // It is met once.
    authority.base.persist(step);
    expect(authority.base.core.start(witness, world.randomBytes(16), world.now).records).toEqual([]);
  });

  it('shows a lost release: with dead epochs the second batch of a victim is never released [S11]', () => {
    const scene = inspected({ count: 1 }, 4);
    const { world, shots } = scene;
    const { server } = world;
    const authority = world.authority(0);
    const backup = [...authority.base.log];
    const first = server.batch(shots.slice(0, 3));
    server.release(first, server.votes(first));
    const second = server.batch([...shots.slice(0, 2), shots[3] as StoredShot]);
    reloaded(authority, backup);
    authority.base.persist(authority.base.core.start(undefined, world.randomBytes(16), world.now));
    expect(verdicts(server.inspectBy(0, shots))).toEqual(Array(4).fill('abstain: epoch-over'));
    expect(reasonOf(server.voteBy(0, second))).toBe('not-inspected');
    expect(reasonOf(server.releaseBy(0, second))).toBe('epoch-over');
  });
});

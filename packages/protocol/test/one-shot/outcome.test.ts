/** The outcome of an upload without votes: expired by enough authorities, and free; never both expired and voted for. */
import {
  agreedShotOutcome,
  isRefused,
  type JoinTag,
  type LiveEpoch,
  releaseShot,
  type ShotOutcomeOf,
  type ShotStatus,
  shotOutcomeCodec,
} from '@basa/protocol';
import type { ShotDevice, StoredShot } from '@basa/simulator';
import { granted, reasonOf } from '@basa/simulator';
import { reloaded } from '@basa/testkit/core/one-shot/shot-requests.ts';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { type Inspected, inspected, verdicts } from './scene.ts';

const WINDOW = 3_600_000 + 900_000;

/** The question about an upload, for this authority. */
function questionOf({ upload }: StoredShot, index: number) {
  const { user, joinTag, epochs } = upload.header;
  return { user, joinTag, statement: epochs.find(({ authority }) => authority === index)?.statement as Uint8Array };
}

function statusOf({ world, shots }: Inspected, index: number, n = 0): ShotStatus {
  return world.server.outcomeBy(index, questionOf(shots[n] as StoredShot, index)).status;
}

describe('an authority', () => {
  it('calls an upload expired after its vote window, records that, and never votes for it [S13]', () => {
    const scene = inspected();
    const { world, batch } = scene;
    const { server } = world;
    world.pass(WINDOW - 1);
    expect(statusOf(scene, 3)).toBe('pending');
    const votes = server.votes(batch, [0, 1, 2]);
    world.pass(1);
    expect(statusOf(scene, 3)).toBe('expired');
    expect(world.authority(3).base.log.at(-1)).toMatchObject({ kind: 'upload-expired' });
    expect(statusOf(scene, 3)).toBe('expired');
    expect(world.authority(3).base.log.filter(({ kind }) => kind === 'upload-expired')).toHaveLength(1);
    expect(server.voteBy(3, batch, { votes })).toMatchObject({ reason: 'upload-expired', slots: [0] });
    expect(statusOf(scene, 0)).toBe('pending');
  });

  it('whose clock steps back after that votes for no other upload of the epoch either [S12]', () => {
    const scene = inspected();
    const { world, batch } = scene;
    world.pass(WINDOW);
    expect(statusOf(scene, 0, 0)).toBe('expired');
    world.pass(-WINDOW);
    expect(statusOf(scene, 0, 0)).toBe('expired');
    expect(statusOf(scene, 0, 1)).toBe('expired');
    expect(reasonOf(world.server.voteBy(0, batch))).toBe('epoch-over');
    expect(verdicts(world.server.inspectBy(0, scene.shots))).toEqual(Array(3).fill('abstain: epoch-over'));
  });

  it('knows it also once the epoch is given up, and knows nothing of a statement that is not in its log [S12]', () => {
    const scene = inspected();
    const { world, shots } = scene;
    world.pass(4 * 3_600_000);
    world.authority(0).tick();
    expect(statusOf(scene, 0)).toBe('expired');
    const elsewhere = { ...questionOf(shots[1] as StoredShot, 0), statement: new Uint8Array(32) };
    expect(world.server.outcomeBy(0, elsewhere).status).toBe('unknown');
    const stranger = { ...questionOf(shots[1] as StoredShot, 0), user: new Uint8Array(32) as never };
    expect(world.server.outcomeBy(0, stranger).status).toBe('unknown');
  });

  it('records a limited number of expired uploads per device and epoch, and none once the epoch is given up', () => {
    const { world, shots } = inspected();
    const { server } = world;
    const authority = world.authority(0);
    const question = questionOf(shots[0] as StoredShot, 0);
    const ask = () => server.outcomeBy(0, { ...question, joinTag: world.randomBytes(32) as JoinTag }).status;
    const recorded = () => authority.base.log.filter(({ kind }) => kind === 'upload-expired').length;
    world.pass(WINDOW);
    expect(new Set(Array.from({ length: 16 }, ask))).toEqual(new Set(['expired']));
    expect([ask(), recorded()]).toEqual(['pending', 16]);
    expect(server.outcomeBy(0, questionOf(shots[1] as StoredShot, 0)).status).toBe('expired');
    world.pass(2 * 3_600_000);
    authority.tick();
    expect([ask(), recorded()]).toEqual(['expired', 17]);
  });

  it('calls an upload of a final batch included, and an upload that it voted for pending forever', () => {
    const scene = inspected();
    const { world, batch } = scene;
    const votes = world.server.votes(batch);
    granted(world.server.releaseBy(0, batch, { votes }));
    world.pass(WINDOW);
    expect([0, 1].map((index) => statusOf(scene, index))).toEqual(['included', 'pending']);
  });
});

/** The machine of an authority comes back as it was before a release, with its secrets and its witness. */
describe('a lost release', () => {
  function lost(count: 1 | 4) {
    const scene = inspected({ count }, 4);
    const { world, shots } = scene;
    const { base } = world.authority(0);
    const image = [...base.log];
    const first = world.server.batch(shots.slice(0, 3));
    world.server.release(first, world.server.votes(first, count === 1 ? undefined : [0, 1, 3]));
    const head = base.core.head();
    reloaded(world.authority(0), image);
    const show = () => base.persist(base.core.meetHead(head, world.randomBytes(16), world.now)) as object;
    return { ...scene, show };
  }

  it.each([1, 4] as const)(
    'is never "expired" once a head shows it, also after its epoch was given up [S12]',
    (count) => {
      const scene = lost(count);
      const { world, show } = scene;
      world.pass(4 * 3_600_000);
      world.authority(0).tick();
      expect(statusOf(scene, 0)).toBe('expired'); // as long as nothing shows the rollback, the authority counts in f
      expect(granted(show())).toEqual({ rolledBack: true });
      expect(statusOf(scene, 0)).toBe('unknown');
      world.authority(0).restart();
      expect(statusOf(scene, 0)).toBe('unknown');
    },
  );

  it('is never "expired" once a head shows it, also after the authority called the upload expired [S12]', () => {
    const scene = lost(4);
    const { world, show } = scene;
    world.pass(WINDOW);
    expect(statusOf(scene, 0)).toBe('expired');
    expect(granted(show())).toEqual({ rolledBack: true });
    expect(statusOf(scene, 0)).toBe('unknown');
    // Uploads to epochs of the new branch expire as before.
    world.openEpochs();
    world.contributed(1);
    const shot = world.server.shots.at(-1) as StoredShot;
    world.pass(4 * 3_600_000);
    world.authority(0).tick();
    expect(world.server.outcomeBy(0, questionOf(shot, 0)).status).toBe('expired');
  });
});

/** A device that names another epoch than its upload does, to strand the batch that its upload is in. */
describe('a question that names an old epoch', () => {
  it('does not prevent a vote for an upload that names another epoch, nor call that upload expired', () => {
    const world = new ShotWorld();
    const authority = world.authority(2);
    const old = authority.base.core.liveEpochs[0] as LiveEpoch;
    world.pass(WINDOW);
    world.openEpochs();
    world.contributed(3);
    const shots = [...world.server.shots];
    world.server.inspect();
    const batch = world.server.batch(shots);
    const question = questionOf(shots[0] as StoredShot, 2);
    expect(world.server.outcomeBy(2, { ...question, statement: old.statement }).status).toBe('expired');
    expect(world.server.outcomeBy(2, question).status).toBe('pending');
    expect(isRefused(world.server.voteBy(2, batch))).toBe(false);
    expect(world.server.outcomeBy(2, { ...question, statement: old.statement }).status).toBe('pending');
  });
});

describe('a device', () => {
  function asked(): Inspected & {
    device: ShotDevice;
    answers: () => ShotOutcomeOf[];
    release: (some: readonly ShotOutcomeOf[]) => object;
  } {
    const scene = inspected();
    const { world, shots, devices } = scene;
    const [device] = devices as [ShotDevice];
    const { suite } = world.environment.tools;
    const question = { suite, council: world.policy, task: world.task, user: device.own.user };
    const answers = () =>
      world.indices.map((authority) => ({
        authority,
        outcome: world.server.outcomeBy(authority, questionOf(shots[0] as StoredShot, authority)),
      }));
    const release = (some: readonly ShotOutcomeOf[]) =>
      device.own.persist(releaseShot(question, device.own, device.own.deltaId, some)) as object;
    return { ...scene, device, answers, release };
  }

  it('has its update back when t authorities call it expired, and not before', () => {
    const { world, device, answers, release } = asked();
    expect(reasonOf(release(answers()))).toBe('outcome-undecided');
    world.pass(WINDOW);
    const all = answers();
    expect(reasonOf(release(all.slice(0, 2)))).toBe('outcome-undecided');
    const [first] = all as [ShotOutcomeOf];
    expect(reasonOf(release([first, first, first]))).toBe('outcome-undecided');
    expect(release(all.slice(1))).toEqual({ kind: 'free' });
    expect(device.own.ledger.deltas.size).toBe(0);
    expect(release([])).toEqual({ kind: 'free' });
  });

  it('keeps an update that is in a final batch', () => {
    const { world, batch, answers, release } = asked();
    const votes = world.server.votes(batch);
    for (const index of world.indices) granted(world.server.releaseBy(index, batch, { votes }));
    expect(release(answers())).toEqual({ kind: 'included' });
  });

  it('counts no answer that is of another upload, another epoch or another authority [S12]', () => {
    const { world, device, shots, answers } = asked();
    world.pass(WINDOW);
    const all = answers();
    const { suite } = world.environment.tools;
    const question = { suite, council: world.policy, task: world.task, user: device.own.user };
    const commitment = (shots[0] as StoredShot).upload.header;
    expect(agreedShotOutcome(question, commitment, all)).toBe('expired');
    const other = new Uint8Array(32).fill(7) as never;
    const changed = (change: object) =>
      all.map(({ authority, outcome }) => {
        const body = { ...outcome, ...change };
        const { signer } = world.authority(authority).base.ports;
        return { authority, outcome: { ...body, signature: signer.sign(shotOutcomeCodec.statement(body)) } };
      });
    for (const change of [{ task: other }, { user: other }, { joinTag: other }, { statement: other }])
      expect(agreedShotOutcome(question, commitment, changed(change))).toBeUndefined();
    expect(agreedShotOutcome(question, commitment, changed({}))).toBe('expired');
    const unsigned = all.map((one) => ({ ...one, outcome: { ...one.outcome, signature: new Uint8Array(64) } }));
    expect(agreedShotOutcome(question, commitment, unsigned)).toBeUndefined();
    const unnamed = { ...commitment, epochs: commitment.epochs.slice(2) };
    expect(agreedShotOutcome(question, unnamed, all)).toBeUndefined();
  });
});

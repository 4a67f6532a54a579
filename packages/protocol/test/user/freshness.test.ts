/** The newest model of several authorities, as a device takes it: enough good answers to this very question, and never an older version. */
import {
  type Device,
  endorse,
  loggedVersion,
  type ModelEntry,
  modelEntryCodec,
  type NewestModel,
  type NewestOf,
  newestModelCodec,
  receiveNewest,
} from '@basa/protocol';
import { granted, reasonOf } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { restoreDevice } from '../../src/user/device.ts';
import { noteModel } from '../../src/user/freshness.ts';
import { voted } from '../one-shot/scene.ts';

const NONCE = new Uint8Array(16).fill(7);
const ALL = [0, 1, 2, 3];
const NEW: Device = { ledger: restoreDevice({} as never, []).ledger, session: undefined };

function answersOf(world: ShotWorld, indices: readonly number[] = ALL): readonly NewestOf[] {
  return indices.map((authority) => ({
    authority,
    answer: world.authority(authority).base.core.showNewestModel(world.task, NONCE) as NewestModel,
  }));
}

/** The answer with these changes, signed again by its authority. */
function changed(world: ShotWorld, { authority, answer }: NewestOf, change: Partial<NewestModel>): NewestOf {
  const body = { ...answer, ...change };
  const { signer } = world.authority(authority).base.ports;
  return { authority, answer: { ...body, signature: signer.sign(newestModelCodec.statement(body)) } };
}

function received(
  world: ShotWorld,
  answers: readonly NewestOf[],
  {
    device = NEW,
    isPast = () => false,
  }: { device?: Device; isPast?: (head: unknown, authority: number) => boolean } = {},
) {
  const { suite } = world.environment.tools;
  return receiveNewest({ suite, council: world.policy, task: world.task, nonce: NONCE, isPast }, device, answers);
}

describe('the newest model', () => {
  const world = new ShotWorld();
  const good = answersOf(world);
  const [first, second, third] = good as readonly [NewestOf, NewestOf, NewestOf];

  it('is taken from three of four, and is recorded once', () => {
    const step = received(world, [first, second, third]);
    const entry = granted(step.answer);
    expect(entry.version).toBe(0);
    expect(step.records).toEqual([{ kind: 'seen', version: 0, modelHash: entry.modelHash }]);
    const again = received(world, good, { device: step.state });
    expect(granted(again.answer)).toEqual(entry);
    expect(again.records).toEqual([]);
  });

  it('is not taken from two, nor from one of them twice', () => {
    for (const answers of [[first, second], [first, second, second], []])
      expect(reasonOf(received(world, answers).answer)).toBe('model-not-logged');
  });

  it('gives the reason why a bad answer did not count, if too few good answers are left', () => {
    const replayed = changed(world, third, { nonce: new Uint8Array(16) });
    expect(reasonOf(received(world, [first, second, replayed]).answer)).toBe('model-stale');
    expect(granted(received(world, [...good.slice(0, 2), replayed, good[3] as NewestOf]).answer).version).toBe(0);
  });

  it('counts no answer that is unsigned, of a stranger, or of another task', () => {
    const forged = { authority: 2, answer: { ...third.answer, nonce: new Uint8Array(16) } };
    const stranger = { ...third, authority: 4 };
    const { entry } = third.answer;
    const elsewhere = { ...entry, task: new Uint8Array(32).fill(9) as typeof entry.task };
    const endorsements = ALL.flatMap(
      (n) => endorse(modelEntryCodec, world.policy, world.authority(n).base.ports.signer, elsewhere).endorsements,
    );
    const ofAnother = changed(world, third, { entry: { ...elsewhere, endorsements } });
    for (const bad of [forged, stranger, ofAnother])
      expect(reasonOf(received(world, [first, second, bad]).answer)).toBe('model-not-logged');
  });

  it('counts no entry that too few signed, and no answer from before a head that was seen', () => {
    const { entry } = third.answer;
    const short = changed(world, third, { entry: { ...entry, endorsements: entry.endorsements.slice(2) } });
    expect(reasonOf(received(world, [first, second, short]).answer)).toBe('model-not-logged');
    const isPast = (_: unknown, authority: number): boolean => authority === 2;
    expect(reasonOf(received(world, [first, second, third], { isPast }).answer)).toBe('model-stale');
    expect(granted(received(world, good, { isPast }).answer).version).toBe(0);
  });

  it('is the newest of the named versions in any order, and an older version is refused later', () => {
    const { world: later, batch, votes } = voted();
    const before = answersOf(later);
    for (const index of later.indices) granted(later.server.releaseBy(index, batch, { votes }));
    later.away.add(3);
    later.append({ sums: [later.server.closing(batch).ctx], spoilt: [] });
    const after = answersOf(later);
    expect(after.map(({ answer }) => answer.entry.version)).toEqual([1, 1, 1, 0]);
    const step = received(later, after);
    expect(granted(step.answer).version).toBe(1);
    expect(granted(received(later, [...after].reverse()).answer).version).toBe(1);
    expect(reasonOf(received(later, before, { device: step.state }).answer)).toBe('model-stale');
    expect(received(later, before, { device: step.state }).records).toEqual([]);
  });

  it('that was seen is not replaced by an older signed version', () => {
    const { suite } = world.environment.tools;
    const seen = { version: 3, modelHash: new Uint8Array(32).fill(5) };
    const device = restoreDevice(suite, [{ kind: 'seen', ...seen }]);
    const older = noteModel(suite, device, { version: 2, modelHash: new Uint8Array(32) });
    expect(older).toMatchObject({ records: [], answer: seen });
    expect(older.state.ledger.seen).toEqual(seen);
  });

  it('with another hash than was seen for its version is refused', () => {
    const seen = restoreDevice({} as never, [{ kind: 'seen', version: 0, modelHash: new Uint8Array(32).fill(5) }]);
    expect(reasonOf(received(world, good, { device: seen }).answer)).toBe('other-model');
  });
});

describe('a model that was downloaded', () => {
  it('is trained on only if its bytes are those that enough authorities logged', () => {
    const world = new ShotWorld();
    const { suite } = world.environment.tools;
    const [entry] = world.server.models as [ModelEntry];
    const bytes = world.federation.server.modelBytes(0);
    const version = (shown: ModelEntry, downloaded: Uint8Array) =>
      loggedVersion(suite, { policy: world.policy }, shown, suite.sha256(downloaded));
    expect(version(entry, bytes)).toBe(0);
    expect(version(entry, Uint8Array.of(9))).toBeUndefined();
    expect(version({ ...entry, version: 9 }, bytes)).toBeUndefined();
    expect(version({ ...entry, endorsements: entry.endorsements.slice(2) }, bytes)).toBeUndefined();
    const [first] = entry.endorsements as [never];
    expect(version({ ...entry, endorsements: [first, first, first] }, bytes)).toBeUndefined();
    const other = { ...world.policy, dimension: 9 };
    expect(loggedVersion(suite, { policy: other }, entry, entry.modelHash)).toBeUndefined();
  });
});

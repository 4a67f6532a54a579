/** An authority accepts an upload with its own words, sealed for itself, the same for every holder. */
import { granted, isRefused } from '@basa/protocol';
import {
  type ExaminePorts,
  examineUpload,
  openParts,
  partBinding,
  shownEpochs,
} from '@basa/protocol/internal/one-shot/parts.ts';
import { guardVerdict } from '@basa/protocol/internal/one-shot/server.ts';
import { taskParts } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { type HeldPart, SHOT_UPLOAD_BYTES } from '@basa/protocol/internal/wire/upload.ts';
import { Epoch, epochNameOf, heldParts, InspectAnswer, ShotUpload, type Verdict } from '@basa/protocol/wire';
import type { ShotDevice, StoredShot } from '@basa/simulator';
import { reasonOf } from '@basa/simulator';
import type { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { forged, inspected, ownParts, pair, saidOf, verdicts, WEAK_KEYS } from './scene.ts';

const ALL_BAD = Array(4).fill('bad: part-invalid');

/** The secrets with which authority `index` opens parts. */
function openingAt(world: ShotWorld, index: number): ExaminePorts['epochSecret'] {
  return (statement) => world.authority(index).epochSecret(statement);
}

/** Of the first upload, at authority 0. */
function examinedBy(world: ShotWorld, shot: StoredShot, epochSecret = openingAt(world, 0)) {
  const { suite } = world.environment.tools;
  const task = { id: world.task, policy: world.policy };
  const seeds: Uint8Array[] = [];
  const watched = {
    ...suite,
    hkdf: (input: Parameters<typeof suite.hkdf>[0]) => {
      seeds.push(input.secret);
      return suite.hkdf(input);
    },
  };
  const ports = { suite: watched, authority: 0, epochSecret, tools: { ...world.environment.tools, suite: watched } };
  const epochs = shownEpochs(suite, task, world.server.epochsOf([shot]));
  return { seeds, ports, task, epochs, answer: examineUpload(ports, task, world.server.shown(shot), epochs) };
}

describe("a victim's sealed part in a colluder's upload", () => {
  it('does not open: it is bound to tag and user [S1]', () => {
    const { world, victim, own, colluder } = pair();
    const { sealed } = world.server.shown(victim);
    expect(saidOf(world, forged(colluder, own, {}, sealed))).toEqual(ALL_BAD);
    const { joinTag, user } = victim.upload.header;
    expect(saidOf(world, forged(colluder, own, { joinTag }, sealed))).toEqual(ALL_BAD);
    expect(saidOf(world, forged(colluder, own, { joinTag, user }, sealed))).toEqual(
      Array(4).fill('bad: tag-not-yours'),
    );
  });

  it('is bad if there are more or fewer bytes than its parts have', () => {
    const { world, own, colluder } = pair();
    const { sealed } = world.server.shown(own);
    for (const other of [sealed.subarray(1), Uint8Array.of(...sealed, 0)])
      expect(saidOf(world, forged(colluder, own, {}, other))).toEqual(Array(4).fill('bad: body-mismatch'));
  });

  it('fits the bytes that the server accepts, and is sealed to every holder or not at all', () => {
    const { world, own } = pair();
    expect(ShotUpload.encode(own.upload).length).toBeLessThanOrEqual(SHOT_UPLOAD_BYTES);
    const { header } = own.upload;
    const epochs = world.server.epochsOf([own]).filter(({ authority }) => authority !== 2);
    const [part] = heldParts(world.policy, header.epochs);
    expect(() => partBinding(world.environment.tools.suite, header, part as HeldPart, epochs)).toThrow(
      'of authority 2 is missing',
    );
  });

  it('opens for no other part of the same upload', () => {
    const { world, own, colluder } = pair();
    const { sealed } = world.server.shown(own);
    const each = sealed.length / 4;
    const swapped = Uint8Array.of(
      ...sealed.subarray(each, 2 * each),
      ...sealed.subarray(0, each),
      ...sealed.subarray(2 * each),
    );
    expect(saidOf(world, forged(colluder, own, {}, swapped))).toEqual(ALL_BAD);
  });
});

describe('sealed parts that the server puts under the header of a device', () => {
  it('differ from the parts that the device signed, at inspection and at release [S6]', () => {
    const { world, batch, shots, devices } = inspected();
    const { server } = world;
    const [shot] = shots as [StoredShot];
    const sealed = ownParts(world, shot);
    const shown = { ...server.shown(shot), sealed };
    expect(verdicts(server.inspectBy(0, [shot], { uploads: [shown] }))).toEqual(['bad: body-mismatch']);
    // The same parts are good in an upload that the device signed itself.
    expect(saidOf(world, forged(devices[0] as ShotDevice, shot, {}, sealed))).toEqual(Array(4).fill('good'));
    const votes = server.votes(batch);
    const uploads = [shown, ...shots.slice(1).map((one) => server.shown(one))];
    const wanted = [{ part: 2, vector: true }];
    expect(reasonOf(server.releaseBy(0, batch, { votes, uploads, wanted }))).toBe('body-mismatch');
  });
});

describe('a device that deals different seeds', () => {
  it.each([
    ['the point', 0],
    ['the copy of the first holder', 32],
    ['the copy of the last holder', 127],
  ])('in %s is found out by all holders of the part alike [S9]', (_, at) => {
    const { world, own, colluder } = pair();
    const sealed = world.server.shown(own).sealed.slice();
    sealed[at] = (sealed[at] as number) ^ 1;
    const said = saidOf(world, forged(colluder, own, {}, sealed));
    // Authority 0 does not hold part 1, the first one, and has nothing to say against the others.
    expect(said).toEqual(['good', ...Array(3).fill('bad: part-invalid')]);
    const wrong = forged(colluder, own, {}, sealed);
    const answers = world.indices.map(
      (index) => granted(world.server.inspectBy(index, [wrong])).verdicts[0] as Verdict,
    );
    expect(guardVerdict(world.policy, world.server.vectorOf(wrong).subarray(0, 4), answers)).toEqual({
      kind: 'bad',
      reason: 'part-invalid',
    });
  });
});

describe('an authority', () => {
  it.each([0, 1, 2, 3])('%i that colludes misses the part that names it [S8]', (index) => {
    const { world, shots } = inspected();
    const [shot] = shots as [StoredShot];
    const { suite } = world.environment.tools;
    const epochSecret = openingAt(world, index);
    const task = { id: world.task, policy: world.policy };
    const epochs = shownEpochs(suite, task, world.server.epochsOf([shot]));
    const opened = openParts({ suite, authority: index, epochSecret }, task, world.server.shown(shot), epochs);
    if (isRefused(opened)) throw new Error(opened.reason);
    expect(opened.map(({ part }) => part)).toEqual(taskParts(world.policy).filter((part) => part !== 1 << index));
  });

  it('gives exactly the eight words of the guards of each part that it holds [S14]', () => {
    const { world, shots } = inspected();
    const answer = granted(world.server.inspectBy(0, shots)) as InspectAnswer;
    for (const { guards } of answer.verdicts) {
      expect(guards.map(({ part }) => part)).toEqual([2, 4, 8]);
      for (const { words } of guards) expect(words).toHaveLength(8);
    }
    const [first] = answer.verdicts as [Verdict];
    for (const words of [
      [1, 2, 3, 4, 5, 6, 7],
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    ]) {
      const verdict = { ...first, guards: [{ part: 2, words }] };
      expect(() => InspectAnswer.encode({ ...answer, verdicts: [verdict] })).toThrow();
    }
  });

  it('keeps no seed of an upload that it examined, good or bad', () => {
    const { world, victim, own, colluder } = pair();
    const good = examinedBy(world, victim);
    expect(isRefused(good.answer)).toBe(false);
    expect(good.seeds.length).toBeGreaterThan(0);
    const sealed = world.server.shown(own).sealed.slice();
    sealed[sealed.length - 1] = (sealed.at(-1) as number) ^ 1;
    const bad = examinedBy(world, forged(colluder, own, {}, sealed));
    expect(reasonOf(bad.answer as object)).toBe('part-invalid');
    const secrets = [...world.authority(0).units.values()].map(({ secret }) => secret);
    for (const seed of [...good.seeds, ...bad.seeds].filter((one) => !secrets.includes(one)))
      expect(seed.every((byte) => byte === 0)).toBe(true);
  });

  it.each<[string, string, (scene: ReturnType<typeof pair>) => StoredShot]>([
    [
      'a header of another task',
      'certificate-invalid',
      ({ own, colluder }) => forged(colluder, own, { task: new Uint8Array(32) as never }),
    ],
    [
      'the epoch of another authority',
      'epoch-invalid',
      ({ own, colluder }) => {
        const [, second, ...rest] = own.upload.header.epochs as [never, never];
        return forged(colluder, own, { epochs: [{ ...(second as object), authority: 0 } as never, second, ...rest] });
      },
    ],
  ])('finds no good in an upload with %s (%s)', (_, reason, change) => {
    const scene = pair();
    expect(verdicts(scene.world.server.inspectBy(0, [change(scene)]))[0]).toMatch(new RegExp(`: ${reason}$`));
  });

  it('takes no statement of an epoch that is not signed, of another task, or whose key is of low order', () => {
    const { world, own, colluder } = pair();
    const { server } = world;
    const [first] = server.epochsOf([own]) as [ReturnType<typeof server.epochsOf>[number]];
    const { suite } = world.environment.tools;
    const { signer } = world.authority(0).base.ports;
    const signed = (change: object, by = signer) => {
      const body = { ...first, ...change };
      return { ...body, signature: by.sign(Epoch.statement(body)) };
    };
    const named = (epoch: ReturnType<typeof signed>) => {
      const epochs = [{ ...epochNameOf(suite, epoch), authority: 0 }, ...own.upload.header.epochs.slice(1)];
      const shot = forged(colluder, own, { epochs });
      const others = server.epochsOf([own]).slice(1);
      return verdicts(server.inspectBy(1, [shot], { epochs: [epoch, ...others] }));
    };
    expect(named(signed({}, world.signer()))).toEqual(['bad: epoch-invalid']);
    expect(named(signed({ task: new Uint8Array(32) }))).toEqual(['bad: epoch-invalid']);
    for (const key of WEAK_KEYS) expect(named(signed({ key }))).toEqual(['bad: epoch-invalid']);
    expect(named(signed({ authority: 1 }))).toEqual(['bad: epoch-invalid']);
    // A good statement is not the problem: this one is only not the one that the parts are sealed to.
    const other = suite.x25519(world.randomBytes(32)).publicKey;
    expect(named(signed({ key: other }))).toEqual(['bad: part-invalid']);
  });
});

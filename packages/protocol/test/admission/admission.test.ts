import { describe, expect, it } from 'vitest';
import {
  Admission,
  type AdmissionOptions,
  type BufferStage,
  keptMs,
  noteUsedPlaces,
  noteVersionAge,
  startPlaces,
} from '../../src/index.ts';

const OPTIONS: AdmissionOptions = { bufferSize: 4, places: 6, targetAge: 3, maxWaitingBuffers: 2 };
/** Nobody waits. */
const alone = (underWay: number) => ({ underWay, ahead: 0 });
const fill = (stage: BufferStage, ...users: string[]) => ({ users, stage, awaited: [], live: users.length });

describe('a place', () => {
  it('is given while fewer are taken than there are, those in buffers included', () => {
    const admission = new Admission(OPTIONS);
    admission.track('A', fill('begun', 'u1', 'u2'), 0);
    expect(admission.judge('new', alone(3))).toBe('place');
    expect(admission.judge('new', alone(4))).toBe('full');
    expect(admission.view({ underWay: 3, waiting: 0 })).toMatchObject({ used: 5, underWay: 3 });
  });

  it('is held until the end of the buffer: a device whose update is in no version gets no other', () => {
    const admission = new Admission(OPTIONS);
    admission.track('A', fill('full', 'u1', 'u2', 'u3', 'u4'), 0);
    expect(admission.judge('u1', alone(0))).toBe('holds');
    admission.track('A', fill('over', 'u1', 'u2', 'u3', 'u4'), 1);
    expect(admission.judge('u1', alone(0))).toBe('place');
    expect(admission.view({ underWay: 0, waiting: 0 })).toMatchObject({ places: 6, used: 0 });
  });

  it('counts as used with those in buffers, which the controller may give again', () => {
    const admission = new Admission({ bufferSize: 10, places: 'auto', targetAge: 3, maxWaitingBuffers: 2 });
    admission.track('A', fill('begun', ...Array.from({ length: 20 }, (_, n) => `u${n}`)), 0);
    admission.placed(30);
    for (let n = 0; n < 8; n++) admission.versionMade(n, 1);
    expect(admission.places).toBe(50);
  });

  it('is not given while the most buffers wait to be opened', () => {
    const admission = new Admission({ ...OPTIONS, places: 100 });
    admission.track('A', fill('waiting', 'u1'), 0);
    expect(admission.judge('new', alone(0))).toBe('place');
    admission.track('B', fill('waiting', 'u2'), 0);
    expect(admission.judge('new', alone(0))).toBe('backlog');
    admission.track('A', fill('over', 'u1'), 1);
    expect(admission.judge('new', alone(0))).toBe('place');
  });

  it('is not needed if a buffer has other devices in it and free slots', () => {
    const admission = new Admission(OPTIONS);
    admission.track('A', fill('empty'), 0);
    expect(admission.hasRoomFor('new', 0)).toBe(false);
    admission.track('A', fill('begun', 'u1'), 0);
    expect(admission.hasRoomFor('new', 0)).toBe(true);
    admission.track('A', fill('full', 'u1', 'u2', 'u3', 'u4'), 0);
    expect(admission.hasRoomFor('new', 0)).toBe(false);
  });

  it('is needed if the buffer holds only this device, which would otherwise begin one buffer after the other', () => {
    const admission = new Admission(OPTIONS);
    admission.track('A', fill('begun', 'u1'), 0);
    expect(admission.hasRoomFor('u1', 0)).toBe(false);
    expect(admission.hasRoomFor('u2', 0)).toBe(true);
    admission.track('B', fill('begun', 'u2'), 0);
    expect(admission.hasRoomFor('u1', 0)).toBe(true);
  });

  it('is needed while the most buffers wait to be opened, because arriving devices always begin another', () => {
    const admission = new Admission(OPTIONS);
    admission.track('begun', fill('begun', 'u1'), 0);
    admission.track('A', fill('waiting', 'u2'), 0);
    expect(admission.hasRoomFor('new', 0)).toBe(true);
    admission.track('B', fill('waiting', 'u3'), 0);
    expect(admission.hasRoomFor('new', 0)).toBe(false);
    admission.track('A', fill('over', 'u2'), 1);
    expect(admission.hasRoomFor('new', 0)).toBe(true);
  });
});

describe('with one version a buffer, a place', () => {
  const ONE: AdmissionOptions = { ...OPTIONS, oneVersion: { minimum: 3, isHeld: false } };
  const of = (version: number, users: string[], awaited: string[] = [], stage: BufferStage = 'begun') => ({
    users,
    awaited,
    stage,
    version,
    live: users.length,
  });

  it('is free again with its upload, and with the end of the buffer only if the task asks for that', () => {
    const [free, held] = [false, true].map((isHeld) => {
      const admission = new Admission({ ...ONE, oneVersion: { minimum: 3, isHeld } });
      admission.track('A', of(0, ['u1', 'u2', 'u3'], ['u3']), 0);
      return admission.view({ underWay: 0, waiting: 0 }).used;
    });
    expect([free, held]).toEqual([1, 3]);
  });

  it('is not given to a device that gave an update on the newest version: it would give a second one', () => {
    const admission = new Admission(ONE);
    admission.track('A', of(0, ['u1'], []), 0);
    expect(admission.judge('u1', alone(0))).toBe('holds');
    admission.versionMade(1, 0);
    expect(admission.judge('u1', alone(0))).toBe('place');
    admission.track('A', of(2, ['u1'], []), 0);
    const { places } = admission;
    admission.versionMade(2, undefined); // it repeats the model
    expect([admission.judge('u1', alone(0)), admission.places]).toEqual(['holds', places]);
  });

  it('is useless on an older version for which too few devices are left', () => {
    const admission = new Admission(ONE);
    admission.versionMade(1, 0);
    expect(admission.versionOver(1, 0)).toBeUndefined();
    expect(admission.versionOver(0, 2)).toBeUndefined();
    expect(admission.versionOver(0, 1)).toMatchObject({ reason: 'version-over' });
    admission.track('A', of(0, ['u1']), 0);
    expect(admission.versionOver(0, 1)).toBeUndefined();
    admission.track('A', of(1, ['u1']), 0);
    expect(admission.versionOver(0, 1)).toMatchObject({ reason: 'version-over' });
  });

  it('is not needed beside others in a buffer of the same version, and no other', () => {
    const admission = new Admission(ONE);
    admission.track('A', of(0, ['u1']), 0);
    expect([0, 1].map((version) => admission.hasRoomFor('new', version))).toEqual([true, false]);
  });
});

describe('free places', () => {
  it('go to the devices that have waited longest, and to no device that asks out of turn', () => {
    const admission = new Admission(OPTIONS);
    const judged = (ahead: number) => admission.judge('u', { underWay: 4, ahead }); // two of six are free
    expect([0, 1, 2, 5].map(judged)).toEqual(['place', 'place', 'behind', 'behind']);
  });

  it('are given to no device, not even the first in line, while every place is taken', () => {
    expect(new Admission(OPTIONS).judge('u', { underWay: 6, ahead: 0 })).toBe('full');
  });

  it('that became free with the end of a buffer shorten the wait, and those of an unknown buffer do not', () => {
    const admission = new Admission(OPTIONS);
    const wait = () => admission.retryAfterMs({ ahead: 0, waiting: 1 }, 0, 1);
    admission.track('never seen', fill('over', 'u1'), 0);
    expect(wait()).toBe(1_000);
    for (const stage of ['full', 'waiting'] as const) {
      admission.track('A', fill(stage, 'u1', 'u2', 'u3', 'u4'), 0);
      expect(wait()).toBe(1_000);
    }
    admission.track('A', fill('over', 'u1', 'u2', 'u3', 'u4'), 0);
    expect(wait()).toBe(250);
  });

  it('of devices that were under way shorten the wait', () => {
    const admission = new Admission(OPTIONS);
    admission.freed(3, 0);
    expect(admission.retryAfterMs({ ahead: 0, waiting: 1 }, 0, 1)).toBe(250);
    expect(admission.view({ underWay: 2, waiting: 7 })).toMatchObject({ underWay: 2, waiting: 7 });
  });
});

describe('a turn', () => {
  it('is kept for one and a half times the wait and a second', () => {
    expect([keptMs(0), keptMs(1_000), keptMs(60_000)]).toEqual([1_000, 2_500, 91_000]);
  });
});

describe('the controller', () => {
  const auto = { bufferSize: 10, places: 'auto', targetAge: 3 } as const;
  const after = (ages: number[], used: number) =>
    ages.reduce((state, age) => noteVersionAge(auto, state, age), noteUsedPlaces(startPlaces(auto), used)).places;

  it('starts at K (1 + target) and stays there while the age is near the target', () => {
    expect(startPlaces(auto).places).toBe(40);
    expect(after(Array(8).fill(3.2), 40)).toBe(40);
  });

  it('looks every 2 (1 + target) versions and changes by no more than a quarter', () => {
    expect(after(Array(7).fill(20), 40)).toBe(40);
    expect(after(Array(8).fill(20), 40)).toBe(32);
    expect(after(Array(8).fill(1), 40)).toBe(50);
  });

  it('does not wind up if places are unused: never above K (1 + target) or 1.25 times the most that were used', () => {
    expect(after(Array(80).fill(0), 9)).toBe(40);
  });

  it('starts at K + 2 if the target age is zero', () => {
    expect(startPlaces({ ...auto, targetAge: 0 }).places).toBe(12);
  });

  it('moves exactly at the edges of the dead band and of the allowed change', () => {
    const looked = (targetAge: number, age: number, used: number) => {
      const options = { ...auto, targetAge };
      return Array(2 * (1 + targetAge))
        .fill(age)
        .reduce((state, one: number) => noteVersionAge(options, state, one), noteUsedPlaces(startPlaces(options), used))
        .places;
    };
    // A factor of 9/10, and of 11/10: still near.
    expect([looked(8, 9, 90), looked(10, 9, 110)]).toEqual([90, 110]);
    // Of 8 looks at age a the factor is 4 / (1 + a).
    expect(after(Array(8).fill(4 / 0.9 - 1 - 1e-9), 40)).toBe(40);
    expect(after(Array(8).fill(4 / 0.89 - 1), 40)).toBeCloseTo(35.6, 6);
    expect(after(Array(8).fill(4 / 1.1 - 1 + 1e-9), 40)).toBe(40);
    expect(after(Array(8).fill(4 / 1.11 - 1), 40)).toBeCloseTo(44.4, 6);
  });

  it('begins each look anew', () => {
    const state = Array(8)
      .fill(20)
      .reduce((before, age: number) => noteVersionAge(auto, before, age), noteUsedPlaces(startPlaces(auto), 40));
    expect(state).toEqual({ places: 32, versions: 0, ageSum: 0, maxUsed: 0 });
  });

  it('remembers the most that were used', () => {
    const state = [9, 40, 12].reduce(noteUsedPlaces, startPlaces(auto));
    expect(state.maxUsed).toBe(40);
  });

  it('never falls below K + 2', () => {
    expect(after(Array(800).fill(500), 40)).toBe(12);
  });

  it('leaves a fixed number as it is', () => {
    const fixed = { ...auto, places: 14 };
    const state = Array(80)
      .fill(9)
      .reduce((before, age: number) => noteVersionAge(fixed, before, age), startPlaces(fixed));
    expect(state.places).toBe(14);
  });
});

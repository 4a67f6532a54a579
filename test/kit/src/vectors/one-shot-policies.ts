/** Policies of the one-shot mode: unusable ones, and those at the limits. */
import type { Floor } from '@basa/client/internal/device/floor.ts';
import { RING_32 } from '@basa/masking';
import type { PrivacyPolicy } from '@basa/protocol/internal/wire/privacy.ts';
import { ENGINE, ONE_SHOT_DEFAULTS, type OneShotPolicy, type TaskPolicy } from '@basa/protocol/policy';

const TEN = { bufferSize: 10, minimum: 8 };

type Case = readonly [what: string, changes: Partial<TaskPolicy>];

/** n authorities, of which t are needed and f may collude. */
function shot(n: number, t: number, f: number, lines: Partial<OneShotPolicy> = {}): Partial<TaskPolicy> {
  return {
    authorities: Array.from({ length: n }, (_, index) => new Uint8Array(32).fill(index + 1)),
    threshold: t,
    engine: ENGINE.oneShot,
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: f, ...lines },
  };
}

/** The demands that a device's own floor may make of them. */
export function shotFloors(usual: Floor, privacy: PrivacyPolicy): readonly (readonly [Floor, Partial<TaskPolicy>])[] {
  const [checked, own] = [
    { ...usual, checkedSums: true },
    { ...usual, deviceNoise: true },
  ];
  return [
    [usual, shot(1, 1, 0)],
    [checked, shot(1, 1, 0)],
    [checked, shot(4, 3, 1)],
    [checked, {}],
    [usual, { ...shot(1, 1, 0, { authorityNoise: true }), privacy }],
    [own, { ...shot(1, 1, 0, { authorityNoise: true }), privacy }],
    [own, { ...shot(1, 1, 0), privacy }],
  ];
}

export function unusableShots(privacy: PrivacyPolicy): readonly Case[] {
  const large = { modulus: RING_32, minimum: 2 };
  return [
    ['one-shot: one authority that is to withstand one', shot(1, 1, 1)],
    ['one-shot: an authority that is named twice', { ...shot(1, 1, 0), authorities: twice(), threshold: 2 }],
    ['one-shot: 2 of 3 authorities, of which one may collude', shot(3, 2, 1)],
    ['one-shot: 4 of 7 authorities, of which one may collude', shot(7, 4, 1)],
    ['one-shot: 3 of 4 authorities, of which two may collude', shot(4, 3, 2)],
    ['one-shot: 3 of 4 authorities, each of which could unmask alone', shot(4, 3, 0)],
    ['one-shot: 2 of 2 authorities', shot(2, 2, 1)],
    ['one-shot: 3 of 3 authorities, of which two may collude', shot(3, 3, 2)],
    ['one-shot: 6 of 7 authorities, of which three may collude', shot(7, 6, 3)],
    ['one-shot: 5 of 8 authorities', shot(8, 5, 1)],
    ['one-shot: mixed versions', { ...shot(1, 1, 0), versions: 'unsafeMixed' }],
    ['one-shot: noise of the authority in a task without noise', shot(1, 1, 0, { authorityNoise: true })],
    ['one-shot: noise of one of several authorities', { ...shot(4, 3, 1, { authorityNoise: true }), privacy }],
    ['one-shot: a trimmed mean of 49 updates', { ...shot(1, 1, 0, { stepUpdates: 49, combine: 'trimmed' }), ...TEN }],
    ['one-shot: a step of no update', shot(1, 1, 0, { stepUpdates: 0 })],
    ['one-shot: a step of 641 updates', { ...shot(1, 1, 0, { stepUpdates: 641 }), ...TEN }],
    ['one-shot: versions of no update', shot(1, 1, 0, { versionMinimum: 0 })],
    ['one-shot: versions of more than Kmin', { ...shot(1, 1, 0, { versionMinimum: 9 }), ...TEN }],
    ['one-shot: a batch of 10,001', { ...shot(1, 1, 0), ...large, bufferSize: 10_001 }],
  ];
}

export function usableShots(privacy: PrivacyPolicy): readonly Case[] {
  const large = { modulus: RING_32, minimum: 2 };
  return [
    ['one-shot: one authority', shot(1, 1, 0)],
    ['one-shot: 3 of 3 authorities, of which one may collude', shot(3, 3, 1)],
    ['one-shot: 3 of 4 authorities, of which one may collude', shot(4, 3, 1)],
    ['one-shot: 4 of 5 authorities', shot(5, 4, 1)],
    ['one-shot: 4 of 6 authorities', shot(6, 4, 1)],
    ['one-shot: 5 of 7 authorities, of which one may collude', shot(7, 5, 1)],
    ['one-shot: 5 of 7 authorities, of which two may collude', shot(7, 5, 2)],
    ['one-shot: 6 of 8 authorities, of which two may collude', shot(8, 6, 2)],
    ['one-shot: a private task', { ...shot(4, 3, 1), privacy }],
    ['one-shot: noise of the one authority', { ...shot(1, 1, 0, { authorityNoise: true }), privacy }],
    ['one-shot: a step of 640 updates', { ...shot(1, 1, 0, { stepUpdates: 640 }), ...TEN }],
    ['one-shot: a trimmed mean of 50 updates', { ...shot(1, 1, 0, { stepUpdates: 50, combine: 'trimmed' }), ...TEN }],
    ['one-shot: versions of one update', shot(1, 1, 0, { versionMinimum: 1 })],
    ['one-shot: versions of Kmin updates', { ...shot(1, 1, 0, { versionMinimum: 8 }), ...TEN }],
    ['one-shot: a batch of 10,000', { ...shot(1, 1, 0), ...large, bufferSize: 10_000 }],
  ];
}

function twice(): readonly Uint8Array[] {
  return [new Uint8Array(32).fill(1), new Uint8Array(32).fill(1)];
}

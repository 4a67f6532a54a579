/** Policies that decode: unusable ones, with a reason for each line of `policyProblem`, and those at the limits. */

import type { Floor } from '@basa/client/internal/device/floor.ts';
import { ascii, concatBytes, FIELD, fromHex, RING_32, ring } from '@basa/masking';
import { MAX_POSITIONS } from '@basa/protocol/internal/wire/fields.ts';
import type { PrivacyPolicy } from '@basa/protocol/internal/wire/privacy.ts';
import type { Staleness } from '@basa/protocol/internal/wire/training.ts';
import { ENGINE, ONE_SHOT_DEFAULTS, type OneShotPolicy, type TaskPolicy } from '@basa/protocol/policy';

type Case = readonly [what: string, changes: Partial<TaskPolicy>];

/** Invalid UTF-8, by its fault. */
const NO_TEXT = {
  'a byte that begins nothing': 'ff',
  'a zero in two bytes': 'c080',
  'half of a pair': 'eda080',
  'beyond U+10FFFF': 'f4908080',
  'broken off': 'e282',
};

/** Characters that change how the words around a name look: Cc, Zl, Zp and every letter of Bidi_Control. */
const CONTROLS = [
  0x00, 0x09, 0x0a, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9f, 0x2028, 0x2029, 0x061c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c,
  0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
];

/** Letters beside them that a name may have. */
const LETTERS = [
  '',
  ' ',
  '~',
  '\u00a0',
  '\u00fc',
  '\u200d',
  '\u2027',
  '\u202f',
  '\u2065',
  '\u206a',
  '\ufeff',
  '\u{10ffff}',
];

const councilOf = (count: number, threshold: number): Partial<TaskPolicy> => ({
  authorities: Array.from({ length: count }, (_, n) => new Uint8Array(32).fill(n + 1)),
  threshold,
});

const ROOT: Staleness = { kind: 'polynomial', exponent: 0.5 };

/** With one version per batch none of them is allowed, not even those that weight every update equally. */
const OF_AGE: Readonly<Record<string, Staleness>> = {
  'a root': ROOT,
  'a power of 0': { kind: 'polynomial', exponent: 0 },
  'a hinge': { kind: 'hinge', slope: 0, grace: 10 },
};

/** The paper's protocol: one authority, CP-ABE, and devices that weight their updates by age. */
const paper = (changes: Partial<TaskPolicy> = {}): Partial<TaskPolicy> => ({
  engine: ENGINE.cpAbe,
  oneShot: undefined,
  ...changes,
});

const mixed = (changes: Partial<TaskPolicy>): Partial<TaskPolicy> => ({
  ...paper(),
  versions: 'unsafeMixed',
  staleness: ROOT,
  ...changes,
});

export function unusablePolicies(good: TaskPolicy, privacy: PrivacyPolicy): readonly Case[] {
  const named = (bytes: Uint8Array): Partial<TaskPolicy> => ({ name: concatBytes(ascii('a'), bytes, ascii('b')) });
  const noisy = (changes: Partial<PrivacyPolicy>): Partial<TaskPolicy> => ({ privacy: { ...privacy, ...changes } });
  const [twice = new Uint8Array(32)] = good.authorities;
  return [
    ...[0, 1].map((size): Case => [`a batch of ${size}`, { bufferSize: size, minimum: size }]),
    ...[0, 1, 11].map((minimum): Case => [`Kmin ${minimum} of 10`, { minimum }]),
    ...[0, 2 ** 31 + 1, 2 ** 32 - 1].map((dimension): Case => [`dimension ${dimension}`, { dimension }]),
    ['no time to upload', { uploadLeaseMs: 0 }],
    ...Object.entries(NO_TEXT).map(
      ([why, hex]): Case => [`a name that is no UTF-8: ${why}`, named(fromHex(hex) as Uint8Array)],
    ),
    ...CONTROLS.map((code): Case => {
      const letter = new TextEncoder().encode(String.fromCodePoint(code));
      return [`U+${code.toString(16).padStart(4, '0')} in the name`, named(letter)];
    }),
    ['no authority', { authorities: [], threshold: 0 }],
    ['no authority, one is needed', { authorities: [] }],
    ['an authority twice', { authorities: [twice, new Uint8Array(32).fill(2), twice], threshold: 3 }],
    ...[0, 2, 255].map((threshold): Case => [`${threshold} of one authority`, { threshold }]),
    ['5 of 4 authorities', councilOf(4, 5)],
    ...[2, 5, 255].map((engine): Case => [`engine ${engine}, which nobody knows`, { engine }]),
    ['level 0', { level: 0 }],
    ['level 0 in the field', { level: 0, modulus: FIELD }],
    ['a sum that could wrap around', { level: 52_429 }],
    ['a sum that could wrap around in the field', { level: 2 ** 31, bufferSize: 2, minimum: 2, modulus: FIELD }],
    ['a sum that is no number', { level: 2 ** 32 - 1, clip: 1e308, modulus: RING_32 }],
    ['a ring without room for weights', { modulus: ring(2), level: 1, clip: 0.01, maxStaleness: 0 }],
    ['the metric examples in a task with noise', { ...noisy({}), metrics: [{ name: 'examples', low: 0, high: 1 }] }],
    ['z of 1 without a budget', noisy({ budget: undefined })],
    ['as many colluders as leave one', noisy({ colluders: 7 })],
    ['more colluders than users', noisy({ colluders: 65_535 })],
    ['a level too coarse for noise', { ...noisy({}), level: 63 }],
    ['too little noise for a discrete Gaussian', noisy({ noiseMultiplier: 0.01 })],
    ['no noise to speak of', noisy({ noiseMultiplier: 1e-300 })],
    ['more noise than can be drawn', { ...noisy({ noiseMultiplier: 200 }), modulus: RING_32 }],
    ['a sum that wraps around with its noise', noisy({ noiseMultiplier: 50 })],
    ...Object.entries(OF_AGE).map(
      ([what, staleness]): Case => [`${what} with one version a batch`, { staleness, maxStaleness: 1 }],
    ),
    ['the one-shot mode without its lines', { oneShot: undefined }],
  ];
}

export function usablePolicies(good: TaskPolicy, privacy: PrivacyPolicy): readonly Case[] {
  const letters = LETTERS.map((name): Case => [`the name "${name}"`, { name: new TextEncoder().encode(name) }]);
  return [
    ['the one that the others differ from', {}],
    ...letters,
    ['a name of 64 bytes', { name: ascii('a'.repeat(64)) }],
    ['the smallest batch', { bufferSize: 2, minimum: 2 }],
    ['one number', { dimension: 1 }],
    ['2^31 numbers', { dimension: 2 ** 31 }],
    ['a millisecond', { uploadLeaseMs: 1 }],
    ['a sum that just fits', { level: 52_428 }],
    ['a sum that just fits the field', { level: 2 ** 30 - 2, bufferSize: 2, minimum: 2, modulus: FIELD }],
    ['the narrowest ring', { modulus: ring(3), level: 1, bufferSize: 3, minimum: 2, maxStaleness: 1 }],
    ['the smallest clip', { clip: Number.MIN_VALUE }],
    ['metrics', { metrics: metricsOf(16) }],
    ['a metric of the widest range', { metrics: [{ name: 'a'.repeat(32), low: -8e307, high: 8e307 }] }],
    ['a private task', { privacy }],
    ['as many colluders as leave two', { privacy: { ...privacy, colluders: 6 } }],
    ['a private task of a year', { privacy: { ...privacy, budget: { participations: 2 ** 32 - 1, delta: 0.999 } } }],
    ['blur', { privacy: { ...privacy, noiseMultiplier: 0.99, budget: undefined } }],
    ['little noise with a budget', { privacy: { ...privacy, noiseMultiplier: 0.9 } }],
    ['metrics in a task with noise', { privacy, metrics: metricsOf(16) }],
    ['the coarsest level for noise', { privacy, level: 64 }],
    ['one version a batch, however old', { maxStaleness: 2 ** 32 - 1 }],
    ['training of an own loss', { training: { ...good.training, loss: 'own', epochs: 65_535, learningRate: 1e-300 } }],
  ];
}

/** Policies of `paper` mode, by the reason why some cannot be used, or their purpose. */
export function paperPolicies(): Readonly<Record<'unusable' | 'usable', readonly Case[]>> {
  return {
    unusable: [
      ...[MAX_POSITIONS + 1, 65_535].map(
        (size): Case => [`a buffer of ${size}`, paper({ bufferSize: size, modulus: RING_32 })],
      ),
      ['several authorities', paper(councilOf(4, 3))],
      ['the lines of the one-shot mode', paper({ oneShot: ONE_SHOT_DEFAULTS })],
      ['weights by age with one version a buffer', paper({ staleness: ROOT, maxStaleness: 1 })],
      ['versions that wrap around', mixed({ staleness: { kind: 'constant' }, maxStaleness: 52_429 })],
      ['versions that wrap around far', mixed({ staleness: { kind: 'constant' }, maxStaleness: 2 ** 32 - 1 })],
      ['weights below 1/4, a root', mixed({ maxStaleness: 16 })],
      ['weights below 1/4, a power', mixed({ staleness: { kind: 'polynomial', exponent: 1 }, maxStaleness: 4 })],
      ['weights of nothing', mixed({ staleness: { kind: 'polynomial', exponent: 1e6 } })],
      ['weights below 1/4, a hinge', mixed({ staleness: { kind: 'hinge', slope: 1, grace: 10 }, maxStaleness: 14 })],
      [
        'weights below 1/4, a steep hinge',
        mixed({ staleness: { kind: 'hinge', slope: 1e6, grace: 0 }, maxStaleness: 1 }),
      ],
    ],
    usable: [
      ['one version a buffer', paper()],
      ['the largest buffer', paper({ bufferSize: MAX_POSITIONS, minimum: MAX_POSITIONS, modulus: RING_32 })],
      ['mixed versions that all weigh alike', mixed({ staleness: { kind: 'constant' } })],
      ['weights of 1/4, a root', mixed({ maxStaleness: 15 })],
      ['weights of 1/4, a power', mixed({ staleness: { kind: 'polynomial', exponent: 1 }, maxStaleness: 3 })],
      ['weights of 1/4, a hinge', mixed({ staleness: { kind: 'hinge', slope: 1, grace: 10 }, maxStaleness: 13 })],
      ['weights of 1', mixed({ staleness: { kind: 'polynomial', exponent: 0 }, maxStaleness: 1000 })],
      ['versions that just fit', mixed({ staleness: { kind: 'constant' }, maxStaleness: 52_428 })],
    ],
  };
}

const metricsOf = (count: number): TaskPolicy['metrics'] =>
  Array.from({ length: count }, (_, n) => ({ name: `m-${n}A`, low: n === 0 ? -1 : 0, high: n + 1 }));

const TEN = { bufferSize: 10, minimum: 8 };

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

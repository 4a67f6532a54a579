/** Policies that every client must reject, policies that it must accept, and verdicts of a device's own floor on some. */

import { type Floor, floorProblem } from '@basa/client/internal/device/floor.ts';
import { ascii, ring, toHex } from '@basa/masking';
import { epsilonAfter } from '@basa/protocol/internal/wire/privacy.ts';
import type { MetricRange } from '@basa/protocol/internal/wire/training.ts';
import { ENGINE, ONE_SHOT_DEFAULTS, POLICY_DEFAULTS, TaskPolicy } from '@basa/protocol/policy';
import { malformedPolicies } from './malformed-policies.ts';
import { type ReportVector, reportVectors, unusableStatistics, usableStatistics } from './statistics.ts';
import {
  paperPolicies,
  shotFloors,
  unusablePolicies,
  unusableShots,
  usablePolicies,
  usableShots,
} from './unusable-policies.ts';

/** The reason why a client rejects: the bytes are not a policy, the policy is unusable, or its engine hides nothing. */
export type PolicyRefusal = 'malformed' | 'unusable-policy' | 'unsafe-engine';

interface RefusedPolicy {
  readonly why: string;
  readonly refusal: PolicyRefusal;
  readonly policy: string;
}

interface AcceptedPolicy {
  readonly what: string;
  readonly policy: string;
}

/** A client without `paper` mode refuses all of them, with "unsafe-engine" if it gives a reason. */
interface PaperVector {
  readonly what: string;
  readonly isUsable: boolean;
  readonly policy: string;
}

interface FloorVector {
  readonly floor: Floor;
  readonly policy: string;
  readonly isBelow: boolean;
}

interface BudgetVector {
  readonly noiseMultiplier: number;
  readonly participations: number;
  readonly delta: number;
  readonly epsilon: number;
}

export interface PolicyVectors {
  readonly about: string;
  readonly refused: readonly RefusedPolicy[];
  readonly accepted: readonly AcceptedPolicy[];
  readonly paper: readonly PaperVector[];
  readonly floors: readonly FloorVector[];
  readonly reports: readonly ReportVector[];
  readonly budgets: readonly BudgetVector[];
}

/** A one-shot policy that can be used: the others differ from it as their names say. */
const GOOD_POLICY: TaskPolicy = {
  ...POLICY_DEFAULTS,
  name: ascii('a policy'),
  authorities: [new Uint8Array(32).fill(1)],
  engine: ENGINE.oneShot,
  oneShot: ONE_SHOT_DEFAULTS,
  bufferSize: 10,
  minimum: 8,
  dimension: 1000,
  modulus: ring(20),
  level: 1024,
  clip: 1,
  staleness: { kind: 'constant' },
  maxStaleness: 15,
  manifestHash: new Uint8Array(32),
  serverKey: new Uint8Array(32).fill(9),
  uploadLeaseMs: 60_000,
};

const GOOD_BUDGET = { delta: 1e-6, participations: 10 };
const GOOD_PRIVACY = { noiseMultiplier: 1, colluders: 1, budget: GOOD_BUDGET };
/** Noise without a budget. */
const BLUR = { noiseMultiplier: 0.9, colluders: 1, budget: undefined };

export function policyVectors(): PolicyVectors {
  const written = (changes: Partial<TaskPolicy>): string => toHex(TaskPolicy.encode({ ...GOOD_POLICY, ...changes }));
  const refused = (refusal: PolicyRefusal, cases: readonly (readonly [string, Partial<TaskPolicy>])[]) =>
    cases.map(([why, changes]) => ({ why, refusal, policy: written(changes) }));
  const paper = paperPolicies();
  return {
    about:
      'Policies in hex. Every client refuses `refused` and accepts `accepted`; `paper` is for clients that have paper mode; a device holds `floors` to its own floor. Written by `npm run write -- vectors`; checked by test/policy-vectors.test.ts and conformance/vectors/check.py.',
    refused: [
      ...malformedPolicies(GOOD_POLICY, GOOD_PRIVACY).map(([why, policy]) => ({
        why,
        refusal: 'malformed' as const,
        policy: toHex(policy),
      })),
      ...refused('unusable-policy', [
        ...unusablePolicies(GOOD_POLICY, GOOD_PRIVACY),
        ...unusableShots(GOOD_PRIVACY),
        ...unusableStatistics(GOOD_PRIVACY, GOOD_POLICY),
      ]),
      ...refused('unsafe-engine', [
        ['an engine that hides nothing', { engine: ENGINE.unsafeTransparent, oneShot: undefined }],
      ]),
    ],
    accepted: [
      ...usablePolicies(GOOD_POLICY, GOOD_PRIVACY),
      ...usableShots(GOOD_PRIVACY),
      ...usableStatistics(GOOD_PRIVACY),
    ].map(([what, changes]) => ({
      what,
      policy: written(changes),
    })),
    paper: [
      ...paper.unusable.map(([what, changes]) => ({ what, isUsable: false, policy: written(changes) })),
      ...paper.usable.map(([what, changes]) => ({ what, isUsable: true, policy: written(changes) })),
    ],
    floors: floorVectors(),
    reports: reportVectors(GOOD_POLICY, GOOD_PRIVACY),
    budgets: budgetVectors(),
  };
}

function floorVectors(): readonly FloorVector[] {
  const after = (delta: number, metrics: readonly MetricRange[] = []) =>
    Number(epsilonAfter({ privacy: GOOD_PRIVACY, metrics }, { ...GOOD_BUDGET, delta }).toPrecision(10)); // alike in every engine
  const [spent, spentAt9, metrics] = [after(1e-6), after(1e-9), [{ name: 'loss', low: 0, high: 1 }]];
  const usual = { minimum: 2, maxStaleness: 15, noNoise: true };
  const [plain, noisy] = [GOOD_POLICY, { ...GOOD_POLICY, privacy: GOOD_PRIVACY }];
  // Engines differ in the last digits of a logarithm: the bounds are apart from it.
  const [enough, tooLittle] = [1 + 1e-6, 1 - 1e-6];
  const asked: readonly (readonly [Floor, TaskPolicy])[] = [
    [usual, plain],
    [{ ...usual, noNoise: false }, plain],
    [{ ...usual, noNoise: false }, noisy],
    [
      { ...usual, minimum: 3 },
      { ...plain, oneShot: { ...ONE_SHOT_DEFAULTS, versionMinimum: 3 } },
    ],
    [
      { ...usual, minimum: 4 },
      { ...plain, oneShot: { ...ONE_SHOT_DEFAULTS, versionMinimum: 3 } },
    ],
    [usual, noisy],
    [{ ...usual, minimum: 8 }, plain],
    [{ ...usual, minimum: 9 }, plain],
    [{ ...usual, maxStaleness: 14 }, plain],
    [{ ...usual, privacy: { epsilon: 1e9, delta: 1e-6 } }, plain],
    [{ ...usual, privacy: { epsilon: spent * enough, delta: 1e-6 } }, noisy],
    [{ ...usual, privacy: { epsilon: spent * tooLittle, delta: 1e-6 } }, noisy],
    [{ ...usual, privacy: { epsilon: spent * enough, delta: 1e-9 } }, noisy],
    [{ ...usual, privacy: { epsilon: spentAt9 * enough, delta: 1e-9 } }, noisy],
    [{ ...usual, privacy: { epsilon: spent * enough, delta: 1e-6, colluders: 1 } }, noisy],
    [{ ...usual, privacy: { epsilon: spent * enough, delta: 1e-6, colluders: 2 } }, noisy],
    [
      { ...usual, privacy: { epsilon: 1e9, delta: 1e-6 } },
      { ...noisy, privacy: BLUR },
    ],
    [usual, { ...noisy, privacy: BLUR }],
    [
      { ...usual, privacy: { epsilon: after(1e-6, metrics) * enough, delta: 1e-6 } },
      { ...noisy, metrics },
    ],
    [
      { ...usual, privacy: { epsilon: after(1e-6, metrics) * tooLittle, delta: 1e-6 } },
      { ...noisy, metrics },
    ],
    [{ ...usual, privacy: { epsilon: 1e9, delta: 0 } }, noisy],
    [{ ...usual, privacy: { epsilon: 1e9, delta: 1 } }, noisy],
    [{ ...usual, privacy: { epsilon: 0, delta: 1e-6 } }, noisy],
    ...shotFloors(usual, GOOD_PRIVACY).map(([floor, changes]) => [floor, { ...GOOD_POLICY, ...changes }] as const),
  ];
  return asked.map(([floor, policy]) => ({
    floor,
    policy: toHex(TaskPolicy.encode(policy)),
    isBelow: floorProblem(floor, policy) !== undefined,
  }));
}

function budgetVectors(): readonly BudgetVector[] {
  const noises = [0.01, 0.5, 1, 4, 1000, 1e6];
  return noises.flatMap((noiseMultiplier) =>
    [1, 10, 1_000_000].flatMap((participations) =>
      [1e-5, 1e-9].map((delta) => {
        const epsilon = epsilonAfter({ privacy: { noiseMultiplier }, metrics: [] }, { delta, participations });
        return { noiseMultiplier, participations, delta, epsilon: Number(epsilon.toPrecision(12)) };
      }),
    ),
  );
}

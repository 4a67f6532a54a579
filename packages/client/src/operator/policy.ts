/** The policy of a task from a few numbers, with a quantiser that provably fits. */
import type { Model } from '@basa/learning';
import { manifestText } from '@basa/learning';
import type { PlanRequest } from '@basa/masking';
import { ascii, planQuantizer, ring, signedCapacity } from '@basa/masking';
import type { Staleness, TaskPolicy, TaskTraining } from '@basa/protocol';
import {
  DEFAULT_MAX_STALENESS,
  defaultMinimum,
  defaultThreshold,
  ENGINE,
  POLICY_DEFAULTS,
  policyProblem,
} from '@basa/protocol';
import { SettingsError } from '../errors.ts';

export interface PolicyChoice {
  readonly name: string;
  readonly model: Model;
  readonly serverKey: Uint8Array;
  /** Their public keys. */
  readonly authorities: readonly Uint8Array[];
  /** How many of them are needed; by default the fewest that withstand one that colludes with the server. */
  readonly threshold?: number;
  readonly bufferSize: number;
  readonly minimum?: number;
  /** How seeds are sealed; slot keys by default. */
  readonly engine?: EngineName;
  /** Entries of updates beyond +-clip are clipped; 1 by default. */
  readonly clip?: number;
  /** Bits of one masked entry: 2 to 32, or the fewest that resolve the clip well by default. */
  readonly bits?: number;
  readonly blockFloor?: number;
  readonly staleness?: Staleness;
  readonly maxStaleness?: number;
  readonly training: TaskTraining;
  readonly uploadLeaseMs: number;
  readonly openMs: number;
  readonly closeMs: number;
}

export const ENGINES = { 'slot-keys': ENGINE.slotKeys, 'cp-abe': ENGINE.cpAbe } as const;
export type EngineName = keyof typeof ENGINES;

export async function makePolicy(choice: PolicyChoice): Promise<TaskPolicy> {
  const { name, model, serverKey, authorities, bufferSize, uploadLeaseMs, openMs, closeMs } = choice;
  const policy: TaskPolicy = {
    ...POLICY_DEFAULTS,
    name: ascii(name),
    authorities,
    threshold: choice.threshold ?? defaultThreshold(authorities.length),
    engine: ENGINES[choice.engine ?? 'slot-keys'],
    bufferSize,
    minimum: choice.minimum ?? defaultMinimum(bufferSize, 0),
    dimension: model.dimension,
    ...quantizerOf(choice),
    blockFloor: choice.blockFloor ?? POLICY_DEFAULTS.blockFloor,
    staleness: choice.staleness ?? { kind: 'polynomial', exponent: 0.5 },
    maxStaleness: choice.maxStaleness ?? DEFAULT_MAX_STALENESS,
    manifestHash: new Uint8Array(await crypto.subtle.digest('SHA-256', ascii(manifestText(model)).slice())),
    training: choice.training,
    serverKey,
    uploadLeaseMs,
    openMs,
    closeMs,
  };
  const problem = policyProblem(policy);
  if (problem !== undefined) throw new SettingsError(`these settings cannot be used: ${problem}`);
  return policy;
}

/** Steps to the clip, at least: at K = 10 they take 20 bits an entry, at 32 and 100 they take 24. */
const CLIP_STEPS = 2 ** 15;

function quantizerOf({ bufferSize, clip = 1, bits }: PolicyChoice): Pick<TaskPolicy, 'modulus' | 'level' | 'clip'> {
  const request: PlanRequest =
    bits === undefined
      ? { summands: bufferSize, clip, resolution: { level: Math.ceil(CLIP_STEPS / clip) }, modulus: 'auto' }
      : { summands: bufferSize, clip, resolution: { level: finestLevel(bufferSize, clip, bits) }, modulus: ring(bits) };
  const planned = planQuantizer(request);
  if (planned.kind === 'refused') throw new SettingsError(`these settings cannot be used: ${planned.sentence}`);
  const { modulus, level } = planned.plan;
  return { modulus, level, clip };
}

/** So many steps to the unit that a sum of K entries still fits the bits. */
function finestLevel(bufferSize: number, clip: number, bits: number): number {
  return Math.max(1, Math.floor(Math.floor(signedCapacity(ring(bits)) / bufferSize) / clip));
}

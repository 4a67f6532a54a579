/** The policy of a task from a few numbers, with a quantiser that provably fits. */
import type { Model } from '@basa/learning';
import { manifestText } from '@basa/learning';
import { ascii, RING_32 } from '@basa/masking';
import type { Staleness, TaskPolicy, TaskTraining } from '@basa/protocol';
import { DEFAULT_MAX_STALENESS, defaultMinimum, ENGINE, POLICY_DEFAULTS, policyProblem } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { CommandError } from './command.ts';

export interface PolicyChoice {
  readonly name: string;
  readonly model: Model;
  readonly serverKey: Uint8Array;
  readonly bufferSize: number;
  readonly minimum?: number;
  readonly engine?: 'cp-abe' | 'identity';
  readonly level?: number;
  readonly clip?: number;
  readonly blockFloor?: number;
  readonly staleness?: Staleness;
  readonly maxStaleness?: number;
  readonly training: TaskTraining;
  readonly uploadLeaseMs: number;
  readonly openMs: number;
  readonly closeMs: number;
}

export function makePolicy(choice: PolicyChoice): TaskPolicy {
  const { name, model, serverKey, bufferSize, uploadLeaseMs, openMs, closeMs } = choice;
  const policy: TaskPolicy = {
    ...POLICY_DEFAULTS,
    name: ascii(name),
    engine: choice.engine === 'identity' ? ENGINE.identityKem : ENGINE.cpAbe,
    bufferSize,
    minimum: choice.minimum ?? defaultMinimum(bufferSize, 0),
    dimension: model.dimension,
    modulus: RING_32,
    level: choice.level ?? 2 ** 16,
    clip: choice.clip ?? 8,
    blockFloor: choice.blockFloor ?? POLICY_DEFAULTS.blockFloor,
    staleness: choice.staleness ?? { kind: 'polynomial', exponent: 0.5 },
    maxStaleness: choice.maxStaleness ?? DEFAULT_MAX_STALENESS,
    manifestHash: nodeSuite.sha256(ascii(manifestText(model))),
    training: choice.training,
    serverKey,
    uploadLeaseMs,
    openMs,
    closeMs,
  };
  const problem = policyProblem(policy);
  if (problem !== undefined) throw new CommandError(`these settings cannot be used: ${problem}`);
  return policy;
}

/** A network as a task specification writes it. */
export function modelOptions({ name, input, layers }: Model): object {
  return { name, input, layers: layers.map(({ layer }) => layer) };
}

/** A task as its operator specifies it (docs/http.md), checked line by line before anything is made of it. */
import { type Model, manifestText, readModelJson, type ServerStepOptions } from '@basa/learning';
import { ascii, equalBytes, fromHex } from '@basa/masking';
import { Admission, leastOfVersion, Sums } from '@basa/protocol/one-shot';
import { ENGINE, TaskPolicy } from '@basa/protocol/policy';
import { nodeSuite } from '@basa/runtime/node';
import { hexText, Type } from '@basa/service';

const rate = Type.Number({ exclusiveMinimum: 0 });
/** p of (1 + mean age)^-p, the factor of the rate. */
const damping = Type.Optional(Type.Union([Type.Literal('none'), Type.Number({ minimum: 0, maximum: 4 })]));
const shape = Type.Object(
  {
    height: Type.Integer({ minimum: 1 }),
    width: Type.Integer({ minimum: 1 }),
    channels: Type.Integer({ minimum: 1 }),
  },
  { additionalProperties: false },
);

export const taskSpecificationSchema = Type.Object(
  {
    policy: Type.String({ pattern: '^[0-9a-f]+$', maxLength: 4096, description: 'the policy, in hexadecimal digits' }),
    mode: Type.Optional(
      Type.Union([Type.Literal('one-shot'), Type.Literal('paper')], { description: '`one-shot` (default) or `paper`' }),
    ),
    model: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ maxLength: 64 })),
          input: shape,
          layers: Type.Array(Type.Object({ kind: Type.String() }), { minItems: 1, maxItems: 256 }),
        },
        {
          additionalProperties: false,
          description: 'the network, so that the server can draw first parameters and evaluate versions',
        },
      ),
    ),
    initial: Type.Optional(
      Type.Object(
        {
          seed: Type.Optional(Type.Integer({ minimum: 0 })),
          parameters: Type.Optional(Type.String()),
          sha256: Type.Optional(hexText(32)),
        },
        {
          additionalProperties: false,
          description:
            'the first parameters: drawn from `seed` if there is a `model`, else those that were sent before, by their `sha256`, or hex of raw float32 in `parameters`, or zeros',
        },
      ),
    ),
    serverStep: Type.Optional(
      Type.Union(
        [
          Type.Object({ kind: Type.Literal('fedbuff'), rate, damping }, { additionalProperties: false }),
          Type.Object(
            { kind: Type.Literal('fedavg'), rate, momentum: Type.Number({ minimum: 0, maximum: 1 }), damping },
            { additionalProperties: false },
          ),
          Type.Object(
            {
              kind: Type.Literal('fedadam'),
              rate,
              beta1: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
              beta2: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
              adaptivity: Type.Optional(rate),
              damping,
            },
            { additionalProperties: false },
          ),
        ],
        {
          description:
            '`fedbuff`, `fedavg` (`momentum`) or `fedadam` (`beta1`, `beta2`, `adaptivity`); its rate is multiplied by (1 + mean age)^-`damping`, unless that is `none`',
        },
      ),
    ),
    divideBy: Type.Optional(
      Type.Union([Type.Literal('count'), Type.Literal('weights')], {
        description: 'in paper mode: `count` (default) or `weights`',
      }),
    ),
    stop: Type.Optional(
      Type.Object(
        {
          accuracy: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
          r2: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
          version: Type.Optional(Type.Integer({ minimum: 1 })),
          afterMs: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        {
          additionalProperties: false,
          description:
            'ends the task at a score (`accuracy`, or `r2` with the loss `mse`), at a version or after a time',
        },
      ),
    ),
    target: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'the score that Watch shows as the aim' }),
    ),
    stallMs: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'time without an update after which a batch with Kmin updates is closed',
      }),
    ),
    places: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 1_000_000,
        description: 'devices that train at a time; three times the updates of a version by default',
      }),
    ),
    publicModels: Type.Optional(Type.Boolean({ description: 'anybody may read models and results' })),
  },
  { additionalProperties: false },
);

export type TaskSpecification = Type.Static<typeof taskSpecificationSchema>;

/** The numbers of a task's admission. */
export interface AdmissionNumbers {
  readonly places: number;
  /** No place lasts longer before its update. */
  readonly uploadLeaseMs: number;
  /** Kmin. */
  readonly minimum: number;
  /** The updates that a version needs to be in a batch. */
  readonly leastOfVersion: number;
  /** Set in a private task: places are given only if Kmin devices that can contribute asked within this time. */
  readonly privateWithinMs?: number;
}

/** The meaning of a specification. */
export interface ReadTask {
  readonly policy: TaskPolicy;
  readonly specification: TaskSpecification;
  readonly mode: 'one-shot' | 'paper';
  readonly model: Model | undefined;
  readonly serverStep: ServerStepOptions;
  readonly admission: AdmissionNumbers;
}

/** Throws a `RangeError` that names the line. */
export function readTask(specification: TaskSpecification): ReadTask {
  const policy = TaskPolicy.decode(fromHex(specification.policy) ?? new Uint8Array());
  const mode = modeOf(specification, policy);
  if (specification.mode === 'paper' && policy.privacy !== undefined)
    throw new RangeError('mode: "paper" has no noise; a task with noise runs in one-shot mode');
  if (
    policy.statistics !== undefined &&
    [specification.stop?.version, specification.model].some((one) => one !== undefined)
  )
    throw new RangeError('a statistics task has no model and no versions; it ends by stop.afterMs');
  const model = specification.model === undefined ? undefined : readModel(specification.model, policy);
  checkInitial(specification.initial?.parameters, policy);
  const serverStep = specification.serverStep ?? { kind: 'fedbuff', rate: 1 };
  return {
    policy,
    specification,
    mode,
    model,
    serverStep: serverStep as ServerStepOptions,
    admission: readAdmission(specification.places, policy),
  };
}

/** The engine determines the mode; the operator's specification must agree. */
function modeOf({ mode }: TaskSpecification, { engine, oneShot }: TaskPolicy): ReadTask['mode'] {
  const isOneShot = engine === ENGINE.oneShot && oneShot !== undefined;
  if (!isOneShot && engine !== ENGINE.cpAbe) throw new RangeError(`there is no engine ${engine}`);
  if ((mode ?? 'one-shot') !== (isOneShot ? 'one-shot' : 'paper'))
    throw new RangeError('mode: a policy for one-shot mode needs "one-shot", and one with the engine cp-abe "paper"');
  return isOneShot ? 'one-shot' : 'paper';
}

function readAdmission(places: number | undefined, policy: TaskPolicy): ReadTask['admission'] {
  const { bufferSize, minimum, uploadLeaseMs, privacy, oneShot } = policy;
  if (places !== undefined && places < minimum)
    throw new RangeError(`places must be at least the minimum of a batch (${minimum}), got ${places}`);
  return {
    places: places ?? Admission.defaultPlaces(Math.max(bufferSize, Sums.versionRule(policy).stepUpdates)),
    minimum,
    leastOfVersion: leastOfVersion(policy),
    uploadLeaseMs,
    ...(privacy?.budget !== undefined && oneShot !== undefined && { privateWithinMs: oneShot.epochMs }),
  };
}

function checkInitial(hex: string | undefined, { dimension }: TaskPolicy): void {
  if (hex === undefined) return;
  const bytes = fromHex(hex);
  if (bytes?.length !== 4 * dimension)
    throw new RangeError(`initial.parameters must hold ${dimension} floats in lower-case hexadecimal`);
  if (!new Float32Array(bytes.slice().buffer).every(Number.isFinite))
    throw new RangeError('initial.parameters holds a value that is not finite');
}

function readModel(options: unknown, policy: TaskPolicy): Model {
  const model = readModelJson(options);
  if (model.dimension !== policy.dimension)
    throw new RangeError(`model has ${model.dimension} parameters, but the policy has ${policy.dimension}`);
  if (!equalBytes(nodeSuite.sha256(ascii(manifestText(model))), policy.manifestHash))
    throw new RangeError('model does not have the manifest that the policy names');
  return model;
}

/** Measures the cost of a contribution for a device. */
import { ENGINES, type EngineName } from '@basa/client/operator';
import { applyMasksInPlace, type Modulus, plainVectorKernel, Secret } from '@basa/masking';
import {
  attributeIssuer,
  attributeSealing,
  type BufferIssuer,
  type BufferSealing,
  ONE_SHOT_DEFAULTS,
  sealedBytesOf,
  slotKeyIssuer,
  slotSealing,
  type TaskPolicy,
} from '@basa/protocol';
import { withKem } from '@basa/runtime/kem';
import { createNodeKeystream, createWasmVectorKernel, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type PartTrialOptions, partTrial, sealingTrial } from '@basa/simulator';
import { ENGINE_NAMES, type Way } from '../flags/engines.ts';

const TURNS = 5;
/** Short work is repeated for at least this long, so that it is timed warm. */
const MIN_MS = 30;

/** Milliseconds to seal and open all seeds of the last slot of a buffer. */
async function measureSealing(engine: EngineName, bufferSize: number): Promise<number> {
  const { destroy, ...sealings } = await (engine === 'cp-abe' ? abeParts() : slotKeyParts());
  const trial = sealingTrial(sealings, bufferSize, nodeRandomBytes);
  const [sealMs, openMs, selfMs] = [best(trial.seal), best(trial.open), best(trial.sealSelf)];
  destroy();
  const others = bufferSize - 1;
  // It seals a seed to every later slot, opens and backs up one of every earlier slot, and seals its own.
  return sealMs * others + (openMs + sealMs) * others + selfMs;
}

/** The cost of one contribution for a device: in sealed mode of the last slot of a buffer, which has the most work. */
export interface WayCost {
  readonly way: Way;
  /** Milliseconds to seal and open all its seeds. */
  readonly sealingMs: number;
  /** Milliseconds to expand and add its masks: the same with every engine of sealed mode. */
  readonly maskingMs: number;
  /** The bytes of the sealed seeds that it sends. */
  readonly sealedBytes: number;
  /** The number of requests to a service, from its place to its upload, with one authority. */
  readonly requests: number;
}

/** Place, newest version, model, seat, deposit, key, upload; place, model, upload. */
const REQUESTS = { sealed: 7, oneShot: 3 };

/** Measures both engines and the one-shot mode for one task on this machine. */
export async function compareWays({
  bufferSize,
  dimension,
  modulus,
}: Pick<TaskPolicy, 'bufferSize' | 'dimension' | 'modulus'>): Promise<readonly WayCost[]> {
  const maskingMs = measureMasks(bufferSize, dimension, modulus);
  const requests = REQUESTS.sealed;
  const costs: WayCost[] = [];
  for (const engine of ENGINE_NAMES) {
    const sealingMs = await measureSealing(engine, bufferSize);
    const seeds = 2 * bufferSize - 1; // one for each later slot, one backup for each earlier, its own
    const sealedBytes = seeds * (sealedBytesOf(ENGINES[engine]) ?? 0);
    costs.push({ way: engine, sealingMs, maskingMs, sealedBytes, requests });
  }
  return [...costs, shotCost(dimension, modulus)];
}

/** With one authority: one part, whose seed is sealed to the only epoch key. */
function shotCost(dimension: number, modulus: Modulus): WayCost {
  const { sealing } = ONE_SHOT_DEFAULTS;
  const { sealedBytes, sealMs } = measureParts({ authorities: 1, tolerated: 0, sealing });
  const maskingMs = measureMasks(1, dimension, modulus);
  return { way: 'one-shot', sealingMs: sealMs, maskingMs, sealedBytes, requests: REQUESTS.oneShot };
}

export interface PartCost {
  readonly sealedBytes: number;
  /** For a device, all parts of an upload. */
  readonly sealMs: number;
  /** For an authority, the parts of an upload that it holds. */
  readonly openMs: number;
}

/** The cost of sealing an upload of the one-shot mode, measured here and now. */
export function measureParts(options: PartTrialOptions): PartCost {
  const trial = partTrial({ suite: withKem(nodeSuite), randomBytes: nodeRandomBytes }, options);
  return { sealedBytes: trial.sealedBytes, sealMs: best(trial.seal), openMs: best(trial.open) };
}

interface Parts {
  readonly sealing: BufferSealing;
  readonly issuer: BufferIssuer;
  destroy(): void;
}

function slotKeyParts(): Parts {
  return {
    sealing: slotSealing(nodeSuite),
    issuer: slotKeyIssuer(nodeSuite, nodeRandomBytes(32)),
    destroy: () => undefined,
  };
}

async function abeParts(): Promise<Parts> {
  const { abeIssuer, abeSealing, createMclGroup, decodePublicKey, setup } = await import('@basa/abe');
  const group = await createMclGroup();
  const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };
  const issuer = abeIssuer(setup(tools).masterKey, tools);
  const sealing = abeSealing({ ...tools, publicKey: decodePublicKey(issuer.publicKey, group) });
  sealing.warmUp();
  return {
    sealing: attributeSealing(nodeSuite, sealing),
    issuer: attributeIssuer(nodeSuite, issuer),
    destroy: () => sealing.destroy(),
  };
}

/** Milliseconds to expand and add this many masks. */
function measureMasks(bufferSize: number, parameters: number, modulus: Modulus): number {
  const tools = {
    suite: nodeSuite,
    kernel: createWasmVectorKernel() ?? plainVectorKernel(),
    keystream: createNodeKeystream(),
  };
  const vector = new Uint32Array(parameters);
  return best(() => {
    const terms = Array.from({ length: bufferSize }, () => ({
      seed: new Secret(nodeRandomBytes(32)),
      sign: 1 as const,
    }));
    applyMasksInPlace(vector, { modulus, salt: nodeRandomBytes(32), terms }, tools);
  });
}

function best(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  const first = performance.now();
  for (let turn = 0; turn < TURNS || performance.now() - first < MIN_MS; turn++) {
    const began = performance.now();
    work();
    least = Math.min(least, performance.now() - began);
  }
  return least;
}

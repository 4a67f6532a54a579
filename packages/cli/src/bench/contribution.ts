/** Measures what a contribution costs a device, beside the operations it cannot do without. */
import { createCipheriv } from 'node:crypto';
import type { CachedSealing, Group } from '@basa/abe';
import {
  abeIssuer,
  abeSealing,
  createMclGroup,
  decodeIdentityPublicKey,
  decodePublicKey,
  identityIssuer,
  identitySealing,
  identitySetup,
  setup,
} from '@basa/abe';
import { applyMasksInPlace, plainVectorKernel, RING_32, Secret } from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';

export interface Measured {
  readonly name: string;
  readonly ms: number;
  /** What it is held against, and how many times that it took. */
  readonly peer: string;
  readonly ratio: number;
}

export const TURNS = 5;

export async function measureContribution(choice: {
  readonly engine: 'cp-abe' | 'identity';
  readonly bufferSize: number;
  readonly parameters: number;
}): Promise<readonly Measured[]> {
  const { engine, bufferSize, parameters } = choice;
  const group = await createMclGroup();
  return [...measureSealing(group, engine, bufferSize), measureMasks(bufferSize, parameters)];
}

function measureSealing(group: Group, engine: 'cp-abe' | 'identity', bufferSize: number): readonly Measured[] {
  const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };
  const { sealing, key, attribute } = engine === 'cp-abe' ? abeParts(tools) : identityParts(tools);
  sealing.warmUp();
  const [seed, context] = [nodeRandomBytes(32), nodeRandomBytes(32)];
  const sealed = sealing.seal(seed, attribute, context);
  const { g1, g2 } = group;
  const pair = { g1: g1.generator, g2: g2.generator };
  const pairing = best(() => group.pairingProduct([pair, pair, pair]));
  const seal = best(() => sealing.seal(seed, attribute, context));
  const open = best(() => sealing.open(sealed, key, context));
  const peer = 'a product of three pairings';
  const deposits = {
    name: `deposit: seal ${bufferSize} seeds`,
    ms: seal * bufferSize,
    peer,
    ratio: (seal * bufferSize) / pairing,
  };
  const opened = bufferSize - 1;
  const keys = {
    name: `key: open ${opened} seeds and back them up`,
    ms: (open + seal) * opened,
    peer,
    ratio: ((open + seal) * opened) / pairing,
  };
  sealing.destroy();
  return [deposits, keys];
}

interface Parts {
  readonly sealing: CachedSealing;
  readonly key: Uint8Array;
  readonly attribute: Uint8Array;
}
type Tools = Parameters<typeof abeIssuer>[1] & Parameters<typeof setup>[0];

function abeParts(tools: Tools): Parts {
  const issuer = abeIssuer(setup(tools).masterKey, tools);
  const attribute = nodeRandomBytes(32);
  const publicKey = decodePublicKey(issuer.publicKey, tools.group);
  return { sealing: abeSealing({ ...tools, publicKey }), key: issuer.issue(attribute), attribute };
}

function identityParts(tools: Tools): Parts {
  const issuer = identityIssuer(identitySetup(tools).masterKey, tools);
  const attribute = nodeRandomBytes(32);
  const publicKey = decodeIdentityPublicKey(issuer.publicKey, tools.group);
  return { sealing: identitySealing({ ...tools, publicKey }), key: issuer.issue(attribute), attribute };
}

function measureMasks(bufferSize: number, parameters: number): Measured {
  const tools = {
    suite: nodeSuite,
    kernel: createWasmVectorKernel() ?? plainVectorKernel(),
    keystream: createNodeKeystream(),
  };
  const vector = new Uint32Array(parameters);
  const ms = best(() => {
    const terms = Array.from({ length: bufferSize }, () => ({
      seed: new Secret(nodeRandomBytes(32)),
      sign: 1 as const,
    }));
    applyMasksInPlace(vector, { modulus: RING_32, salt: nodeRandomBytes(32), terms }, tools);
  });
  const zeros = new Uint8Array(4 * parameters);
  const cipher = best(() => {
    for (let n = 0; n < bufferSize; n++)
      createCipheriv('aes-128-ctr', nodeRandomBytes(16), nodeRandomBytes(16)).update(zeros);
  });
  return {
    name: `mask: expand ${bufferSize} seeds`,
    ms,
    peer: "node:crypto's AES-128-CTR over as many bytes",
    ratio: ms / cipher,
  };
}

function best(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < TURNS; turn++) {
    const began = performance.now();
    work();
    least = Math.min(least, performance.now() - began);
  }
  return least;
}

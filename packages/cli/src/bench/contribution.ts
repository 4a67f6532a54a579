/** Measures what a contribution costs a device, beside the operations it cannot do without. */
import { createCipheriv } from 'node:crypto';
import type { EngineName } from '@basa/client/operator';
import { applyMasksInPlace, plainVectorKernel, RING_32, Secret } from '@basa/masking';
import type { BufferIssuer, BufferSealing, Ctx, JoinTag, Registration, Slot, TaskId } from '@basa/protocol';
import { allSteps, attributeIssuer, attributeSealing, slotKeyIssuer, slotSealing } from '@basa/protocol';
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
  readonly engine: EngineName;
  readonly bufferSize: number;
  readonly parameters: number;
}): Promise<readonly Measured[]> {
  const { engine, bufferSize, parameters } = choice;
  return [...(await measureSealing(engine, bufferSize)), measureMasks(bufferSize, parameters)];
}

/** What the last slot of a buffer seals and opens, held against what the engine cannot do without. */
export async function measureSealing(engine: EngineName, bufferSize: number): Promise<readonly Measured[]> {
  const { sealing, issuer, peer, peerMs, destroy } = await (engine === 'cp-abe' ? abeParts() : slotKeyParts());
  const source = { task: nodeRandomBytes(32) as TaskId, bufferId: nodeRandomBytes(16), bufferSize };
  const buffer = { ctx: nodeRandomBytes(32) as Ctx, slotKeys: allSteps(issuer.slotKeys(source)) };
  const last = (bufferSize - 1) as Slot;
  const use = { role: 'edge', joinTag: nodeRandomBytes(32) as JoinTag } as const;
  const [seed, registration] = [nodeRandomBytes(32), nodeRandomBytes(32) as Registration];
  const sealed = sealing.sealEdge(buffer, last, use, seed);
  const open = sealing.edgeOpener(buffer, last, issuer.keysOf({ ctx: buffer.ctx, descriptor: source }).edge(last));
  if (open === undefined) throw new Error('the key does not fit its slot');
  const sealMs = best(() => sealing.sealEdge(buffer, last, use, seed));
  const openMs = best(() => open(sealed, use));
  const selfMs = best(() => sealing.sealSelf(buffer, registration, seed));
  destroy();
  const measured = (name: string, ms: number): Measured => ({ name, ms, peer, ratio: ms / peerMs });
  return [
    measured(`deposit: seal ${bufferSize - 1} seeds`, sealMs * (bufferSize - 1)),
    measured(`key: open ${last} seeds, back them up, seal its own`, (openMs + sealMs) * last + selfMs),
  ];
}

interface Parts {
  readonly sealing: BufferSealing;
  readonly issuer: BufferIssuer;
  readonly peer: string;
  readonly peerMs: number;
  destroy(): void;
}

function slotKeyParts(): Parts {
  const [key, other] = [nodeSuite.x25519(nodeRandomBytes(32)), nodeSuite.x25519(nodeRandomBytes(32)).publicKey];
  return {
    sealing: slotSealing(nodeSuite),
    issuer: slotKeyIssuer(nodeSuite, nodeRandomBytes(32)),
    peer: 'an agreement of X25519',
    peerMs: best(() => key.agree(other)),
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
  const pair = { g1: group.g1.generator, g2: group.g2.generator };
  return {
    sealing: attributeSealing(nodeSuite, sealing),
    issuer: attributeIssuer(nodeSuite, issuer),
    peer: 'a product of three pairings',
    peerMs: best(() => group.pairingProduct([pair, pair, pair])),
    destroy: () => sealing.destroy(),
  };
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

/** `basa bench`: what a contribution costs on this machine, beside the operations it cannot do without. */
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
import type { Command } from '../command.ts';
import { CommandError, numberFlag, textFlag } from '../command.ts';
import { table } from '../terminal.ts';

interface Measured {
  readonly name: string;
  readonly ms: number;
  /** What it is held against, and how many times that it took. */
  readonly peer: string;
  readonly ratio: number;
}

const TURNS = 5;

export const bench: Command = {
  name: 'bench',
  summary: 'measures what a contribution costs a device here',
  usage: `  --buffer <n>         K (10)
  --parameters <n>     d (1048576)
  --engine <name>      cp-abe or identity (cp-abe)`,
  flags: { buffer: { type: 'string' }, parameters: { type: 'string' }, engine: { type: 'string' } },
  async run(input) {
    const bufferSize = numberFlag(input, 'buffer', { least: 2, most: 1024, fallback: 10 });
    const parameters = numberFlag(input, 'parameters', { least: 1, most: 100_000_000, fallback: 2 ** 20 });
    const engine = textFlag(input, 'engine') ?? 'cp-abe';
    if (engine !== 'cp-abe' && engine !== 'identity')
      throw new CommandError(`--engine takes cp-abe or identity, got "${engine}"`);
    const group = await createMclGroup();
    const measured = [...measureSealing(group, engine, bufferSize), measureMasks(bufferSize, parameters)];
    const rows = measured.map(({ name, ms, peer, ratio }) => [
      name,
      ms.toFixed(1),
      `${ratio.toFixed(2)} times ${peer}`,
    ]);
    input.terminal.line(`K = ${bufferSize}, d = ${parameters}, ${engine}; best of ${TURNS}, the last slot of a buffer`);
    input.terminal.line(table([['', 'ms', ''], ...rows]));
    return { json: { bufferSize, parameters, engine, measured } };
  },
};

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

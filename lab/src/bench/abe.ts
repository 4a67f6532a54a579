/** Measures sealing one seed under one attribute, as BASA does, and compares it with the bare operations of mcl in the same run. */
import {
  abeSealing,
  createMclGroup,
  decrypt,
  encodeAttributeKey,
  encrypt,
  freshKeyRandomness,
  keyGen,
  parsePolicy,
  prfKeyRandomness,
  setup,
  warmUpPairing,
} from '@basa/abe';
import { nodeRandomBytes as randomBytes, nodeSuite as suite } from '@basa/runtime/node';
import { bareOperations } from './bare-mcl.ts';
import { timeInTurn } from './measure.ts';
import type { BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const ROUNDS = 150;
const POLICY = 'doctor and (cardiology or 2 of (a, b, c))';

export async function benchAbe(): Promise<BenchResult> {
  const scheme = await schemeOperations();
  const { sealedBytes, ...operations } = scheme;
  const times = timeInTurn({ ...(await bareOperations()), ...operations }, ROUNDS);
  const ms = (name: keyof typeof times): number => times[name].bestMs;
  const decryptToProduct3 = round(ms('decrypt') / ms('product3'));
  const rows: readonly (readonly [string, keyof typeof times])[] = [
    ['bare: G1 multiplication', 'g1Multiply'],
    ['bare: G2 multiplication', 'g2Multiply'],
    ['bare: GT power', 'gtPower'],
    ['bare: hash to G1', 'hashToG1'],
    ['bare: hash to G1 and multiplication', 'hashAndMultiply'],
    ['bare: pairing', 'pairing'],
    ['bare: product of three pairings', 'product3'],
    ['encrypt', 'encrypt'],
    ['decrypt, with every check', 'decrypt'],
    ['keyGen, constant time', 'keyGen'],
    ['tree of 5 leaves: encrypt', 'treeEncrypt'],
    ['tree of 5 leaves: decrypt with 3', 'treeDecrypt'],
  ];
  const text = [
    `CP-ABE (BSW07) on BLS12-381, mcl in WebAssembly, one thread, best and median of ${ROUNDS} runs.`,
    'Encrypt and decrypt are seal and open of one 32-byte seed, with encoding, key derivation and AEAD;',
    'decrypt decodes three points, and checks that each is on the curve, in the subgroup and not infinity. Its key is decoded once before.',
    '',
    formatTable(
      ['operation', 'best ms', 'median ms'],
      rows.map(([title, name]) => [title, times[name].bestMs.toFixed(3), times[name].medianMs.toFixed(3)]),
    ),
    '',
    `decrypt is ${decryptToProduct3} times a product of three pairings (aim: 1.25)`,
    `a sealed seed has ${sealedBytes} bytes (aim: 240)`,
  ].join('\n');
  const abe = {
    encryptMs: round(ms('encrypt')),
    decryptMs: round(ms('decrypt')),
    keyGenMs: round(ms('keyGen')),
    decryptToProduct3,
    product3Ms: round(ms('product3')),
    ciphertextBytes: sealedBytes,
  };
  return { text, json: { abe } };
}

async function schemeOperations() {
  const group = await createMclGroup();
  const tools = { group, suite, randomBytes };
  const { publicKey, masterKey } = setup(tools);
  const [attribute, context, seed] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const randomness = prfKeyRandomness({ prfKey: randomBytes(32), suite });
  const issue = () => encodeAttributeKey(keyGen({ masterKey, attributes: [attribute], randomness }, tools), group);

  const sealing = abeSealing({ ...tools, publicKey });
  warmUpPairing(group);
  const key = issue();
  const sealed = sealing.seal(seed, attribute, context);

  const policy = parsePolicy(POLICY);
  const treeKey = keyGen(
    { masterKey, attributes: ['doctor', 'a', 'c'], randomness: freshKeyRandomness(randomBytes) },
    tools,
  );
  const tree = encrypt({ publicKey, policy, plaintext: seed, context }, tools);
  return {
    sealedBytes: sealed.length,
    encrypt: () => void sealing.seal(seed, attribute, context),
    decrypt: () => expectOpened(sealing.open(sealed, key, context)),
    keyGen: () => void issue(),
    treeEncrypt: () => void encrypt({ publicKey, policy, plaintext: seed, context }, tools),
    treeDecrypt() {
      const opened = decrypt({ ciphertext: tree, key: treeKey, context }, tools);
      expectOpened(opened.kind === 'opened' ? opened.plaintext : undefined);
    },
  };
}

function expectOpened(plaintext: Uint8Array | undefined): void {
  if (plaintext === undefined) throw new Error('a ciphertext did not open');
}

function round(value: number): number {
  return Math.round(1000 * value) / 1000;
}

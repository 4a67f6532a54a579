/**
 * Encrypts a file for whoever satisfies a policy, without knowing who that is: attribute-based encryption.
 * An authority gives out keys for attributes; the policy travels inside the file; two people who each lack something
 * can not put their keys together.
 *
 * Run it with `node --import ./scripts/typescript.mjs --conditions=@basa/source examples/02-encrypt-a-file.ts`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMclGroup,
  decodeAttributeKey,
  decodeCiphertext,
  decodePublicKey,
  decrypt,
  encodeAttributeKey,
  encodeCiphertext,
  encodePublicKey,
  encrypt,
  formatPolicy,
  freshKeyRandomness,
  keyGen,
  parsePolicy,
  setup,
} from '@basa/abe';
import { ascii } from '@basa/masking';
import { nodeRandomBytes as randomBytes, nodeSuite as suite } from '@basa/runtime/node';

const tools = { group: await createMclGroup(), suite, randomBytes };
const { group } = tools;
const folder = mkdtempSync(join(tmpdir(), 'basa-abe-'));
const file = join(folder, 'report.txt');
writeFileSync(file, 'The patient in bed 7 may go home on Friday.\n');

// The authority: one key pair, and a key for each person's attributes.
const { publicKey, masterKey } = setup(tools);
const issue = (...attributes: string[]): Uint8Array =>
  encodeAttributeKey(keyGen({ masterKey, attributes, randomness: freshKeyRandomness(randomBytes) }, tools), group);
const people = {
  'Ana, doctor of cardiology': issue('doctor', 'cardiology'),
  'Ben, doctor with trainings a and c': issue('doctor', 'a', 'c'),
  'Cem, doctor with training b': issue('doctor', 'b'),
  'Dana, nurse of cardiology': issue('nurse', 'cardiology'),
};

// The sender: knows the public key and a policy. The context says what the file is; it must be the same on both sides.
const policy = parsePolicy('doctor and (cardiology or 2 of (a, b, c))');
const context = ascii('report.txt');
const sealed = encrypt(
  {
    publicKey: decodePublicKey(encodePublicKey(publicKey, group), group),
    policy,
    plaintext: readFileSync(file),
    context,
  },
  tools,
);
writeFileSync(`${file}.abe`, encodeCiphertext(sealed, group));

// The readers: each has the file and a key.
const ciphertext = decodeCiphertext(readFileSync(`${file}.abe`), group);
console.log(
  `report.txt (${readFileSync(file).length} bytes) became report.txt.abe (${readFileSync(`${file}.abe`).length} bytes)`,
);
console.log(`for: ${formatPolicy(ciphertext.encapsulation.policy)}\n`);
for (const [person, key] of Object.entries(people)) {
  const opened = decrypt({ ciphertext, key: decodeAttributeKey(key, group), context }, tools);
  const result =
    opened.kind === 'opened' ? `reads "${Buffer.from(opened.plaintext).toString().trim()}"` : opened.reason;
  console.log(`${person.padEnd(36)} ${result}`);
}

// Cem lacks a training, Dana is no doctor. Together they hold every attribute, but their keys do not fit.
const [cem, dana] = [people['Cem, doctor with training b'], people['Dana, nurse of cardiology']].map((key) =>
  decodeAttributeKey(key, group),
);
if (cem === undefined || dana === undefined) throw new Error('a key is missing');
const pooled = { d: cem.d, components: [...cem.components, ...dana.components] };
const collusion = decrypt({ ciphertext, key: pooled, context }, tools);
console.log(
  `${'Cem and Dana, keys put together'.padEnd(36)} ${collusion.kind === 'refused' ? collusion.reason : 'read it!'}`,
);
rmSync(folder, { recursive: true });
console.log(collusion.kind === 'refused' ? 'check: only those who satisfy the policy can read' : 'check FAILED');
if (collusion.kind !== 'refused') process.exitCode = 1;

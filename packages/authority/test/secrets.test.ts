/** Secrets at rest: neither the data folder nor the log lines hold one in the clear. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { equalBytes } from '@basa/masking';
import { AUTHORITY_PATH, agreementKeyOf, type Epoch } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { afterEach, expect, it } from 'vitest';
import { ask, askAs, newDevice, register } from './asking.ts';
import { PAPER } from './conformance/paper.ts';
import { cleanUp, freshHome, start, stop } from './homes.ts';
import { finalBatch, shotScene, shotStage } from './one-shot/shot-world.ts';

afterEach(cleanUp);

/** Every file below, as one text of bytes. */
function everythingIn(...folders: readonly string[]): Buffer {
  const entries = folders.flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }));
  const files = entries.filter((entry) => entry.isFile());
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}

function occursIn(haystack: Buffer, secret: Uint8Array): boolean {
  const bytes = Buffer.from(secret);
  const forms = [
    bytes,
    bytes.toString('hex'),
    bytes.toString('base64').slice(0, -2),
    bytes.toString('base64url').slice(0, -1),
  ];
  return forms.some((form) => haystack.includes(form));
}

it('no signing key, epoch secret, master key or token is on disk or in a log line', async () => {
  const home = freshHome();
  const drawn: Uint8Array[] = [];
  const lines: string[] = [];
  const authority = await start(home, {
    unsafePaperMode: true,
    randomBytes(length) {
      const bytes = nodeRandomBytes(length);
      drawn.push(bytes.slice());
      return bytes;
    },
    log: { level: 'trace', stream: { write: (line) => void lines.push(line) } },
  });
  const scene = await shotScene(authority, 2);
  const { task } = scene.world;
  const [proof = ''] = await register(authority, task);
  await askAs(newDevice(), authority, AUTHORITY_PATH.enrolments(task), { proof });
  await finalBatch(authority, scene);
  const paper = await shotStage([authority], 0, PAPER);
  const before = drawn.length;
  await ask(authority, AUTHORITY_PATH.unsafePaperSealingKey(paper.task));
  const ofMasterKey = drawn.slice(before).filter(({ length }) => length > 32);

  // The secrets, found again from the randomness that was drawn.
  const words = drawn.filter(({ length }) => length === 32);
  const seed = words.find((bytes) => equalBytes(createNodeSigner(bytes).publicKey, authority.publicKey));
  const { key } = scene.epochs[0] as Epoch;
  const epochSecret = words.find((bytes) => equalBytes(agreementKeyOf(nodeSuite, bytes), key));
  expect([seed, epochSecret]).not.toContain(undefined);
  expect(ofMasterKey).toHaveLength(2);
  const secrets = [
    seed as Uint8Array,
    epochSecret as Uint8Array,
    ...ofMasterKey,
    new Uint8Array(readFileSync(home.keyFile)),
    Buffer.from(proof, 'hex'),
  ];

  const running = everythingIn(home.dataFolder);
  await stop(authority);
  const haystack = Buffer.concat([running, everythingIn(home.dataFolder), Buffer.from(lines.join(''))]);
  // The search finds what is there: the public key of the epoch is in its unit.
  expect(occursIn(haystack, key)).toBe(true);
  expect(secrets.map((secret) => occursIn(haystack, secret))).toEqual(secrets.map(() => false));
});

/** Many keys are made in a thread: the same keys, and none of them on the thread that answers requests. */
import { type Ctx, ENGINE, type Registration, type TaskId } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { afterAll, expect, it } from 'vitest';
import { type EpochKeys, masterKeysOf } from '../src/keys/engines.ts';
import { KeyThread } from '../src/keys/key-thread.ts';
import { type KeysAsked, makeKeys } from '../src/keys/work/make-keys.ts';

const seconds: number[] = [];
const thread = new KeyThread((took) => seconds.push(took));
afterAll(() => thread.close());

async function epochOf(engine: number) {
  const masterKeys = await masterKeysOf(engine);
  if (masterKeys === undefined) throw new Error('no such engine');
  const masterKey = masterKeys.make(nodeRandomBytes);
  return { keys: masterKeys.open(masterKey), secret: { engine, masterKey: () => masterKey.slice() } };
}

function closeOf(engine: number, bufferSize: number): KeysAsked {
  const accepted = Array.from({ length: bufferSize - 2 }, (_, slot) => ({
    slot,
    registration: nodeRandomBytes(32) as Registration,
    selfName: engine === ENGINE.slotKeys ? nodeSuite.x25519(nodeRandomBytes(32)).publicKey : new Uint8Array(),
  }));
  const source = { task: nodeRandomBytes(32) as TaskId, bufferSize, offer: nodeRandomBytes(16) };
  return { kind: 'closed', source, ctx: nodeRandomBytes(32) as Ctx, authority: 0, accepted };
}

/** Makes no key: a request to it would run on the thread that answers. */
const NOBODY: EpochKeys = {
  issuer: {
    publicKey: new Uint8Array(),
    slotKeys: () => expect.fail('a list was made here'),
    sealingKey: () => expect.fail('a list was hashed here'),
    keysOf: () => expect.fail('keys were made here'),
    derive: () => expect.fail('a secret was derived here'),
  },
  wipe: () => undefined,
};

it.each([
  ['slot keys', ENGINE.slotKeys, 40],
  ['CP-ABE', ENGINE.cpAbe, 4],
])('the keys of a close by %s come from the thread, are the right ones, and are counted', async (_, engine, size) => {
  const { keys, secret } = await epochOf(engine);
  const asked = closeOf(engine, size);
  seconds.length = 0;
  expect(await thread.make(NOBODY, secret, asked)).toEqual(makeKeys(keys, asked));
  expect(seconds).toHaveLength(size);
});

it('so does the list of a buffer of many slots, and keys of other buffers after a task that failed', async () => {
  const { keys, secret } = await epochOf(ENGINE.slotKeys);
  const { source } = closeOf(ENGINE.slotKeys, 100);
  await expect(thread.make(keys, { ...secret, engine: 99 }, closeOf(99, 3))).rejects.toThrow('no engine 99');
  expect(await thread.make(NOBODY, secret, { kind: 'list', source })).toEqual(makeKeys(keys, { kind: 'list', source }));
});

it('a few keys are made in the calling thread, without the master key', async () => {
  const { keys, secret } = await epochOf(ENGINE.slotKeys);
  const asked = closeOf(ENGINE.slotKeys, 10);
  const hidden = { ...secret, masterKey: () => expect.fail('the master key was asked for') };
  expect(await thread.make(keys, hidden, asked)).toEqual(makeKeys(keys, asked));
});

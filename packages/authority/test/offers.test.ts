/** Keys for a buffer are costly to make, so the authority makes them only for the server of the task. */
import { AUTHORITY_PATH, offerRequestCodec } from '@basa/protocol';
import { afterEach, expect, it, vi } from 'vitest';
import { KeyEpochs } from '../src/keys/key-epochs.ts';
import { ask } from './asking.ts';
import { cleanUp, freshHome, start } from './homes.ts';
import { stage, TestServer } from './parties.ts';

afterEach(cleanUp);

it('no keys are made for a request that the server did not sign', async () => {
  const authority = await start(freshHome());
  const { server } = await stage(authority, 0);
  const drawn = vi.spyOn(KeyEpochs.prototype, 'draw');
  const codeOf = async (path: string, body: Uint8Array) => (await ask(authority, path, { body })).code;
  const offer = ({ signer, task }: TestServer): Uint8Array => {
    return offerRequestCodec.encode({ task, signature: signer.sign(offerRequestCodec.statement({ task })) });
  };
  const stranger = new TestServer(server.policy);
  expect(await codeOf(AUTHORITY_PATH.offers, offer(stranger))).toBe('server-unknown');
  expect(await codeOf(AUTHORITY_PATH.buffers, stranger.drawRequest())).toBe('server-unknown');
  expect(drawn).not.toHaveBeenCalled();
  expect(await codeOf(AUTHORITY_PATH.offers, offer(server))).toBeUndefined();
  expect(await codeOf(AUTHORITY_PATH.buffers, server.drawRequest())).toBeUndefined();
  expect(drawn).toHaveBeenCalledTimes(2);
});

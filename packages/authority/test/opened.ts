/** The steps of an authority over a store and a witness of the test, without its HTTP service. */
import { nodeRandomBytes as randomBytes } from '@basa/runtime/node';
import { ShotSecrets } from '../src/keys/shot-secrets.ts';
import { unlock } from '../src/keys/unlock.ts';
import { DurableAuthority } from '../src/steps/durable-authority.ts';
import type { AuthorityStore } from '../src/store/store.ts';
import type { Witness } from '../src/store/witness.ts';

export async function openedAuthority(
  store: AuthorityStore,
  witness: Witness,
  keyFile: string,
): Promise<DurableAuthority> {
  const unlocked = await unlock(store, witness, { secret: { keyFile }, randomBytes });
  const shotSecrets = new ShotSecrets({ ...unlocked, randomBytes });
  const tools = { ...unlocked, store, shotSecrets, witness, randomBytes, onEvent() {} };
  const authority = await DurableAuthority.open(tools);
  await authority.start();
  return authority;
}

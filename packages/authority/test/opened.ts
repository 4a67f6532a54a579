/** The steps of an authority over a store and a witness of the test, without its HTTP service. */
import { nodeRandomBytes as randomBytes } from '@basa/runtime/node';
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
  const tools = { ...unlocked, store, witness, randomBytes, onEvent() {} };
  const authority = await DurableAuthority.open(tools);
  await authority.start();
  return authority;
}

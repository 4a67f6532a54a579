/** Nobody loses a lease by the time the server was down: it notes that it is alive, and makes up for the gap. */
import { extendLeases } from '@basa/protocol';
import type { BufferKeeper } from './buffer-keeper.ts';
import type { Store } from './store/store.ts';

const ALIVE = 'alive-at';

export function noteAlive(store: Store, now: number): Promise<void> {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(now));
  return store.setNote(ALIVE, bytes);
}

export async function extendByDowntime(store: Store, keeper: BufferKeeper, now: number): Promise<void> {
  const alive = await store.note(ALIVE);
  const downtimeMs =
    alive === undefined ? 0 : now - Number(new DataView(alive.buffer, alive.byteOffset).getBigUint64(0));
  for (const { ctx } of await store.livingBuffers()) {
    const buffer = await keeper.find(ctx);
    const isWaiting = buffer?.status === 'filling' && buffer.slots.some(({ status }) => status === 'assigned');
    if (downtimeMs > 0 && isWaiting) await keeper.step(ctx, (found) => extendLeases(found, downtimeMs));
  }
  // What was made up for is not made up for again.
  await noteAlive(store, now);
}

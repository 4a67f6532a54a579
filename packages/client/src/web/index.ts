/** The client SDK in browsers. */
import type { BasaClient as Client } from '../client.ts';
import { type ConnectOptions, connect } from '../connect.ts';
import type { DeviceStore } from '../device/store.ts';
import type { Outside } from '../outside.ts';
import { openBrowserStore } from './browser-store.ts';
import { webOutside } from './outside.ts';

export * from '../everywhere.ts';
export { openBrowserStore } from './browser-store.ts';
export { webOutside } from './outside.ts';

export type WebConnectOptions = ConnectOptions & {
  /** The name of the device in this browser. Or a store of your own. */
  readonly identity: string | DeviceStore;
  /**
   * To show people their own update: the quantised words, with the words around them, and the words that leave the
   * device. The first is as secret as the update.
   */
  readonly watchMasking?: (quantised: Uint32Array, masked: Uint32Array) => void;
};

export type BasaClient = Client;

export const BasaClient = {
  async connect({ identity, watchMasking, ...options }: WebConnectOptions): Promise<Client> {
    const outside = await webOutside();
    const store = typeof identity === 'string' ? await openBrowserStore(identity) : identity;
    return connect(watchMasking === undefined ? outside : watched(outside, watchMasking), store, options);
  },
} as const;

function watched(outside: Outside, watch: NonNullable<WebConnectOptions['watchMasking']>): Outside {
  return {
    ...outside,
    async mask(vector, plan, signal) {
      const quantised = vector.slice();
      await outside.mask(vector, plan, signal);
      watch(quantised, vector.slice());
    },
  };
}

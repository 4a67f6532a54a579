/** The client SDK on Node. */
import type { BasaClient as Client } from '../client.ts';
import { type ConnectOptions, connect } from '../connect.ts';
import type { DeviceStore } from '../device/store.ts';
import { ProblemError, RefusedError } from '../errors.ts';
import { firstMissing, openFolderStore, removeUnusedStore } from './folder-store.ts';
import { nodeOutside, type TlsOptions } from './outside.ts';

export * from '../everywhere.ts';
export { openFolderStore } from './folder-store.ts';
export { nodeOutside, type TlsOptions, type TrainerOptions, trainerFor } from './outside.ts';

export type NodeConnectOptions = ConnectOptions & {
  /** The folder of the device: its key, certificate and unfinished session. Or a store of your own. */
  readonly identity: string | DeviceStore;
  readonly tls?: TlsOptions;
};

export type BasaClient = Client;

export const BasaClient = {
  async connect({ identity, tls, ...options }: NodeConnectOptions): Promise<Client> {
    if (typeof identity !== 'string') return connect(nodeOutside(tls), identity, options);
    const made = firstMissing(identity);
    const store = await openFolderStore(identity);
    return connect(nodeOutside(tls), store, options).catch(async (error: unknown) => {
      if (made !== undefined && isFinalRefusal(error)) await removeUnusedStore(identity, made);
      throw error;
    });
  },
} as const;

/** The new device is of no use. After other errors its key may be enrolled already, or an operator may still allow it. */
function isFinalRefusal(error: unknown): boolean {
  if (error instanceof ProblemError) return error.code === 'enrolment-token-invalid';
  return error instanceof RefusedError;
}

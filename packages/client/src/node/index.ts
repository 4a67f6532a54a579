/** The client SDK on Node. */
import type { BasaClient as Client } from '../basa-client.ts';
import { type ConnectOptions, connect } from '../connect.ts';
import type { DeviceStore } from '../device/device-store.ts';
import { ProblemError, RefusedError } from '../errors.ts';
import { firstMissing, openFolderStore, removeUnusedStore } from './folder-store.ts';
import { nodeOutside } from './outside.ts';
import type { TlsOptions } from './transport.ts';

export { refusalText } from '@basa/protocol';
export type { Abortable, ContributeOptions } from '../basa-client.ts';
export type { DeviceSigner, DeviceStore } from '../device/device-store.ts';
export type { Floor, PrivacyFloor } from '../device/floor.ts';
export { DEFAULT_FLOOR } from '../device/floor.ts';
export { Heads } from '../device/heads.ts';
export { inMemoryStoreForTests } from '../device/memory-store.ts';
export {
  AnswerError,
  CertificateError,
  ProblemError,
  RefusedError,
  SettingsError,
  StoreError,
  UnreachableError,
} from '../errors.ts';
export type { Outside } from '../outside.ts';
export type { RoundTrainer, RunOptions, RunSummary, Training } from '../run/run.ts';
export { blocksOf } from '../run/run.ts';
export { AuthorityClient } from '../services/authority-client.ts';
export type { RetryOptions } from '../services/retry.ts';
export { DEFAULT_RETRY } from '../services/retry.ts';
export { ServerClient } from '../services/server-client.ts';
export type { LinkOptions } from '../services/service-link.ts';
export { ServiceLink } from '../services/service-link.ts';
export type { Place } from '../session/admission.ts';
export type { ClientEvents } from '../session/client-events.ts';
export type { Contribution, ContributionOutcome, Costs, Rejection, Step } from '../session/contribution.ts';
export type { FetchedModel } from '../session/model-fetch.ts';
export { openFolderStore } from './folder-store.ts';
export { nodeOutside } from './outside.ts';
export type { TrainerOptions } from './trainer.ts';
export { trainerFor } from './trainer.ts';
export type { TlsOptions } from './transport.ts';

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

/** The client SDK in browsers. */
import type { BasaClient as Client } from '../basa-client.ts';
import { type ConnectOptions, connect } from '../connect.ts';
import type { DeviceStore } from '../device/device-store.ts';
import type { Outside } from '../outside.ts';
import { openBrowserStore } from './browser-store.ts';
import { webOutside } from './outside.ts';

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
export { openBrowserStore } from './browser-store.ts';
export { webOutside } from './outside.ts';

export type WebConnectOptions = ConnectOptions & {
  /** The name of the device in this browser. Or a store of your own. */
  readonly identity: string | DeviceStore;
  /**
   * To show people their own update: the quantised words, with two words before them, and the words that leave the
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

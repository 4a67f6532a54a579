/** The client SDK in browsers. */
import type { BasaClient as Client } from '../basa-client.ts';
import type { ConnectOptions } from '../connect.ts';
import { connect } from '../connect.ts';
import type { DeviceStore } from '../device-store.ts';
import type { Outside } from '../outside.ts';
import { openBrowserStore } from './browser-store.ts';
import { webOutside } from './outside.ts';

export type { Place } from '../admission.ts';
export { AuthorityClient } from '../authority-client.ts';
export type { Abortable, ContributeOptions } from '../basa-client.ts';
export type { ClientEvents } from '../client-events.ts';
export type { Contribution, ContributionOutcome, Costs, Rejection, Step } from '../contribution.ts';
export type { DeviceSigner, DeviceStore } from '../device-store.ts';
export {
  AnswerError,
  CertificateError,
  ProblemError,
  RefusedError,
  StoreError,
  UnreachableError,
} from '../errors.ts';
export type { Floor } from '../floor.ts';
export { DEFAULT_FLOOR } from '../floor.ts';
export { Heads } from '../heads.ts';
export { inMemoryStoreForTests } from '../memory-store.ts';
export type { FetchedModel } from '../model-fetch.ts';
export type { Outside } from '../outside.ts';
export type { RetryOptions } from '../retry.ts';
export { DEFAULT_RETRY } from '../retry.ts';
export type { RoundTrainer, RunOptions, RunSummary, Training } from '../run.ts';
export { blocksOf } from '../run.ts';
export { ServerClient } from '../server-client.ts';
export type { LinkOptions } from '../service-link.ts';
export { ServiceLink } from '../service-link.ts';
export { openBrowserStore } from './browser-store.ts';
export { webOutside } from './outside.ts';

export type WebConnectOptions = ConnectOptions & {
  /** The name of the device in this browser. Or a store of your own. */
  readonly identity: string | DeviceStore;
  /**
   * To show people their own update: what was quantised, with two words before it, and what of it leaves the device. The
   * first is as secret as the update.
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

/** Checks that the services are the pinned ones, enrols the device if needed, and gets ready to contribute. */
import { equalBytes, fromHex } from '@basa/masking';
import { isHybrid, policyProblem, sealedBytesOf, type TaskId, type TaskPolicy, taskIdOf } from '@basa/protocol';
import { BasaClient } from './basa-client.ts';
import { DeviceState } from './device/device-state.ts';
import type { DeviceStore } from './device/device-store.ts';
import { DEFAULT_FLOOR, type Floor, floorProblem } from './device/floor.ts';
import { ForeignHead, Heads } from './device/heads.ts';
import { RefusedError } from './errors.ts';
import type { Outside } from './outside.ts';
import { askSeveral } from './services/ask-several.ts';
import { Authorities, type Member } from './services/authorities.ts';
import { AuthorityClient } from './services/authority-client.ts';
import { SILENCE_MS } from './services/first-answer.ts';
import { DEFAULT_RETRY, type RetryOptions } from './services/retry.ts';
import { ServerClient } from './services/server-client.ts';
import { type LinkOptions, ServiceLink } from './services/service-link.ts';
import { Emitter } from './session/client-events.ts';
import type { DeviceContext } from './session/device-context.ts';
import { ensureEnrolled } from './session/enrol.ts';
import { Sealings } from './session/sealings.ts';
import { Standings } from './session/standings.ts';

export interface ConnectOptions {
  /** Addresses: http(s)://host[:port]. */
  readonly server: string;
  /** Comma-separated for several authorities, in the order of their keys. */
  readonly authority: string;
  /** The client trusts these over any service: the task, which is the hash of its policy, and the authority's key, in hex. */
  readonly task: string;
  /** Comma-separated for several authorities. */
  readonly authorityKey: string;
  /** The demands of this application on any policy. */
  readonly floor?: Partial<Floor>;
  /** Allows plain http to another machine. Anyone on the network path can then read and change the traffic. */
  readonly unsafeAllowPlainHttp?: boolean;
  /** For a device that is not enrolled yet. */
  readonly token?: string;
  readonly retry?: Partial<RetryOptions>;
  /** Bytes of one piece of an upload; 1 MiB by default. */
  readonly pieceBytes?: number;
  readonly signal?: AbortSignal;
}

const PIECE_BYTES = 1 << 20;

/** The store is closed again if connecting fails. */
export async function connect(outside: Outside, store: DeviceStore, options: ConnectOptions): Promise<BasaClient> {
  try {
    return await connectWith(outside, store, options);
  } catch (error) {
    await store.close();
    await outside.transport.close();
    throw error;
  }
}

async function connectWith(given: Outside, store: DeviceStore, options: ConnectOptions): Promise<BasaClient> {
  const { signal = new AbortController().signal, token, pieceBytes = PIECE_BYTES } = options;
  signal.throwIfAborted();
  const task = pinned(options.task, 'task') as TaskId;
  const places = authorityPlaces(options);
  const state = await DeviceState.open(given.suite, store);
  const enrolledFor = state.certificate?.task;
  if (enrolledFor !== undefined && !equalBytes(enrolledFor, task)) throw new RefusedError('store-of-another-task');
  const events = new Emitter();
  const retry = { ...DEFAULT_RETRY, ...options.retry };
  const link = (name: LinkOptions['name'], url: string, audience: Uint8Array): ServiceLink => {
    // The client does not wait for one of several authorities: the others are asked at the same time.
    const isOneOfSeveral = name === 'authority' && places.length > 1;
    const onRetry: LinkOptions['onRetry'] = (notice) => isOneOfSeveral || events.emit('retry', notice);
    const { unsafeAllowPlainHttp = false } = options;
    return new ServiceLink(given, {
      name,
      url,
      unsafeAllowPlainHttp,
      audience,
      signer: state.signer,
      retry,
      onRetry,
    });
  };

  const clients = places.map(({ url, key }) => {
    const heads = new Heads(given.suite, key, state.heads);
    return { key, client: new AuthorityClient(link('authority', url, key), heads) };
  });
  const known = state.policy ?? (await policyOf(given, clients, task, signal));
  const policy = checkedPolicy(known, { ...DEFAULT_FLOOR, ...options.floor });
  const outside = await equipped(given, policy);
  const authorities = new Authorities(membersOf(policy, clients), policy, outside);

  const server = new ServerClient(link('server', options.server, policy.serverKey));
  const about = await server.about(signal);
  if (!equalBytes(about.publicKey, policy.serverKey)) throw new RefusedError('wrong-server');

  const sealings = await Sealings.load(outside, policy.engine);
  const pins = { policy };
  const context: DeviceContext = {
    outside,
    server,
    authorities,
    state,
    sealings,
    standings: new Standings({ outside, server, authorities, state, policy, task, retry }),
    events,
    pins,
    task,
    token,
    pieceBytes,
  };
  await ensureEnrolled(context, signal);
  if (policy.oneShot !== undefined && state.policy === undefined) await state.keepPolicy(policy);
  return new BasaClient(context);
}

/** Only tasks that seal with ML-KEM load it. */
async function equipped(outside: Outside, { oneShot }: TaskPolicy): Promise<Outside> {
  const isNeeded = oneShot !== undefined && isHybrid(oneShot.sealing) && outside.suite.kem === undefined;
  if (!isNeeded || outside.suiteWithKem === undefined) return outside;
  return { ...outside, suite: await outside.suiteWithKem() };
}

interface PinnedAuthority {
  readonly key: Uint8Array;
  readonly client: AuthorityClient;
}

function authorityPlaces(options: ConnectOptions): readonly { readonly url: string; readonly key: Uint8Array }[] {
  const [urls, keys] = [options.authority.split(','), options.authorityKey.split(',')];
  if (urls.length !== keys.length)
    throw new RangeError(
      `authority has ${urls.length} addresses, but authorityKey has ${keys.length} keys; give one key for each address`,
    );
  return urls.map((url, n) => ({ url, key: pinned(keys[n] as string, 'authorityKey') }));
}

/**
 * Asks all authorities in parallel. The task's name is the hash of its policy, so no authority can show a different
 * one: one that does has not answered. Those that answer soon also tell the time; the others are contacted when they
 * are needed.
 */
async function policyOf(
  { suite }: Outside,
  clients: readonly PinnedAuthority[],
  task: TaskId,
  signal: AbortSignal,
): Promise<TaskPolicy> {
  const ask = async ({ key, client }: PinnedAuthority, both: AbortSignal): Promise<TaskPolicy> => {
    const { publicKey } = await client.about(both).catch((error: unknown) => {
      throw error instanceof ForeignHead ? new RefusedError('wrong-authority') : error;
    });
    if (!equalBytes(publicKey, key)) throw new RefusedError('wrong-authority');
    const policy = await client.policy(task, both);
    if (!equalBytes(taskIdOf(suite, policy), task)) throw new RefusedError('wrong-policy');
    return policy;
  };
  const isEnough = ([policy, ...others]: readonly TaskPolicy[]): boolean =>
    others.length + 1 >= (policy?.threshold ?? 0);
  const [policy] = await askSeveral(clients, { needed: 1, signal, ask, isEnough, graceMs: SILENCE_MS });
  return policy as TaskPolicy;
}

/** Exactly the authorities of the policy are pinned, each at its index. */
function membersOf({ authorities }: TaskPolicy, clients: readonly PinnedAuthority[]): readonly Member[] {
  const members = authorities.flatMap((key, authority) => {
    const found = clients.find((one) => equalBytes(one.key, key));
    return found === undefined ? [] : [{ authority, client: found.client }];
  });
  const isWhole = members.length === authorities.length && clients.length === authorities.length;
  if (!isWhole)
    throw new RefusedError('wrong-authority', 'the task has other authorities than the ones in authorityKey');
  return members;
}

function checkedPolicy(policy: TaskPolicy, floor: Floor): TaskPolicy {
  const problem = policyProblem(policy);
  if (problem !== undefined) throw new RefusedError('unusable-policy', problem);
  if (policy.oneShot === undefined && sealedBytesOf(policy.engine) === undefined)
    throw new RefusedError('unsafe-engine');
  const below = floorProblem(floor, policy);
  if (below !== undefined) throw new RefusedError('below-floor', below);
  return policy;
}

function pinned(hex: string, name: string): Uint8Array {
  const bytes = fromHex(hex);
  if (bytes?.length !== 32) throw new RangeError(`${name} must be 64 lower-case hexadecimal digits, got ${hex}`);
  return bytes;
}

/** Checks that the services are the pinned ones, enrols the device if needed, and gets ready to contribute. */
import { equalBytes, fromHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { isSealing, OneShotRules, policyProblem, type TaskPolicy, taskIdOf } from '@basa/protocol/policy';
import { Devices } from '@basa/protocol/wire';
import { BasaClient } from './client.ts';
import { DEFAULT_FLOOR, type Floor, floorProblem } from './device/floor.ts';
import { DeviceState } from './device/state.ts';
import type { DeviceStore } from './device/store.ts';
import { RefusedError } from './errors.ts';
import type { Outside } from './outside.ts';
import { DEFAULT_RETRY, type RetryOptions } from './services/attempts.ts';
import { AuthorityClient, askSeveral, SILENCE_MS } from './services/authorities.ts';
import { type LinkOptions, ServiceLink } from './services/link.ts';
import { ServerClient } from './services/server-client.ts';
import { type DeviceContext, ensureEnrolled } from './session/context.ts';
import { Models } from './session/models.ts';
import { Emitter } from './session/results.ts';

export interface ConnectOptions {
  /** Addresses: http(s)://host[:port]. */
  readonly server: string;
  /** Comma-separated for several authorities, in the order of their keys. */
  readonly authority: string;
  /** The client trusts these over any service: the task, which is the hash of its policy, and the authority's key, in hex. */
  readonly task: string;
  /** Comma-separated for several authorities. */
  readonly authorityKey: string;
  /** The task that this one succeeds: a device of it keeps its key, and what it gave and spent. */
  readonly predecessor?: string;
  /** The demands of this application on any policy. */
  readonly floor?: Partial<Floor>;
  /** Allows plain http to another machine. Anyone on the network path can then read and change the traffic. */
  readonly unsafeAllowPlainHttp?: boolean;
  /** For a device that is not enrolled yet: 64 hexadecimal digits that its application made. No service sees it. */
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
  const { signal = new AbortController().signal, pieceBytes = PIECE_BYTES } = options;
  signal.throwIfAborted();
  const token = enrolmentToken(options.token);
  const task = pinned(options.task, 'task') as TaskId;
  const places = authorityPlaces(options);
  const state = await DeviceState.open(given.suite, store);
  const kept = state.certificate?.task ?? task;
  const isSuccessor = options.predecessor !== undefined && equalBytes(kept, pinned(options.predecessor, 'predecessor'));
  if (!equalBytes(kept, task) && !isSuccessor) throw new RefusedError('store-of-another-task');
  if (isSuccessor) await state.succeed();
  const events = new Emitter();
  const retry = { ...DEFAULT_RETRY, ...options.retry };
  const link = (name: LinkOptions['name'], url: string, audience: LinkOptions['audience']): ServiceLink => {
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

  const known = places.map(({ url, key }) => ({ key, client: new AuthorityClient(link('authority', url, () => key)) }));
  const found = state.policy ?? (await policyOf(given, known, task, signal));
  const policy = checkedPolicy(found, { ...DEFAULT_FLOOR, ...options.floor });
  const outside = await equipped(given, policy);
  const authorities = membersOf(policy, known);
  const server = new ServerClient(link('server', options.server, () => policy.serverKey));
  if (!equalBytes(await server.publicKey(signal), policy.serverKey)) throw new RefusedError('wrong-server');
  const models = new Models({ outside, server, policy, task, state, events });
  const context: DeviceContext = {
    outside,
    server,
    authorities,
    state,
    models,
    events,
    policy,
    task,
    token,
    pieceBytes,
  };
  await ensureEnrolled(context, signal);
  if (state.policy === undefined) await state.keepPolicy(policy);
  return new BasaClient(context);
}

/** An authority that the application named. */
interface KnownAuthority {
  readonly key: Uint8Array;
  readonly client: AuthorityClient;
}

/** Exactly the authorities of the task must be pinned, in any order. */
function membersOf({ authorities }: TaskPolicy, known: readonly KnownAuthority[]): readonly AuthorityClient[] {
  const members = authorities.flatMap((key) => known.find((one) => equalBytes(one.key, key))?.client ?? []);
  if (members.length !== authorities.length || known.length !== authorities.length)
    throw new RefusedError('wrong-authority', 'the task has other authorities than the ones in authorityKey');
  return members;
}

/** Only tasks that seal with ML-KEM load it. */
async function equipped(outside: Outside, { oneShot }: TaskPolicy): Promise<Outside> {
  const isNeeded = oneShot !== undefined && OneShotRules.isHybrid(oneShot.sealing) && outside.suite.kem === undefined;
  if (!isNeeded || outside.suiteWithKem === undefined) return outside;
  return { ...outside, suite: await outside.suiteWithKem() };
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
 * Asks all authorities in parallel. The name of the task is the hash of its policy, so a different policy does not count as an answer.
 */
async function policyOf(
  { suite }: Outside,
  clients: readonly KnownAuthority[],
  task: TaskId,
  signal: AbortSignal,
): Promise<TaskPolicy> {
  const ask = async ({ key, client }: KnownAuthority, both: AbortSignal): Promise<TaskPolicy> => {
    const { publicKey } = await client.about(both);
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

function checkedPolicy(policy: TaskPolicy, floor: Floor): TaskPolicy {
  const problem = policyProblem(policy);
  if (problem !== undefined) throw new RefusedError('unusable-policy', problem);
  if (!isSealing(policy)) throw new RefusedError('unsafe-engine');
  const below = floorProblem(floor, policy);
  if (below !== undefined) throw new RefusedError('below-floor', below);
  return policy;
}

/** Its digits are in no message. */
function enrolmentToken(hex: string | undefined): Uint8Array | undefined {
  const bytes = hex === undefined ? undefined : fromHex(hex);
  if (hex === undefined || bytes?.length === Devices.ENROLMENT_TOKEN_BYTES) return bytes;
  throw new RangeError('token must be 64 lower-case hexadecimal digits; `basa keys make` makes tokens');
}

function pinned(hex: string, name: string): Uint8Array {
  const bytes = fromHex(hex);
  if (bytes?.length !== 32) throw new RangeError(`${name} must be 64 lower-case hexadecimal digits, got ${hex}`);
  return bytes;
}

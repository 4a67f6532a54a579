/** Has the authorities draw another buffer of a task, and stores it. */
import { ascii, type Suite } from '@basa/masking';
import type { DescribedBuffer, ServerPorts, TaskId, TaskPolicy } from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-http.ts';
import type { Wanted } from '../authority/council-draw.ts';
import type { Revocations } from '../authority/revocations.ts';
import type { TaskAuthorities } from '../authority/task-authorities.ts';
import type { BufferKeeper } from '../buffers/buffer-keeper.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import type { Store } from '../store/store.ts';
import type { Tickets } from './tickets.ts';
import type { Tuning } from './tuning.ts';

export interface DrawOptions {
  readonly store: Store;
  readonly tickets: Tickets;
  readonly keeper: BufferKeeper;
  readonly revocations: Revocations;
  readonly ports: ServerPorts;
  readonly clock: () => number;
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly authorities: TaskAuthorities;
  readonly models: ModelKeeper;
  readonly tuning: Tuning;
  onTrouble(what: string, error: unknown): void;
}

/**
 * Draws for updates on this version. Returns the reason if the buffer is useless: it may belong to a nonce that was
 * used before.
 */
export async function drawBuffer(
  options: DrawOptions,
  nonce: Uint8Array,
  version: number,
): Promise<AuthorityUnreachable | undefined> {
  const { store, tickets, keeper, task, models, ports, onTrouble } = options;
  await models.refresh();
  const wanted = await wantedModel(options, version);
  const drawn = await timed(options, ofVersion(ports.suite, nonce, wanted), wanted);
  if (!(await isUsable(options, drawn, wanted))) {
    await tickets.forgetDraw(task, nonce);
    const why = rolledBack(drawn.descriptor);
    onTrouble('a new buffer cannot be used', why);
    return why;
  }
  const drawnAt = await store.now();
  await keeper.add({ ...drawn, task, drawnAt }, nonce);
  if (drawnAt < drawn.descriptor.expiry) return undefined;
  return new AuthorityUnreachable('new buffers have already expired; compare the clocks of both services');
}

/** Codes of an authority whose log of models differs from ours. */
const OTHER_LOG: ReadonlySet<string | undefined> = new Set(['wrong-version', 'model-not-logged', 'other-model']);

/** Draws a buffer, and records the time it takes. */
async function timed(
  { clock, revocations, tuning, task, policy, authorities }: DrawOptions,
  nonce: Uint8Array,
  wanted: Wanted,
): Promise<DescribedBuffer> {
  const begun = clock();
  try {
    const drawn = await authorities.drawBuffer(nonce, wanted);
    tuning.drew(clock() - begun);
    // The answer came with a head: devices that were revoked by then take no part in this buffer.
    await revocations.catchUp({ ...policy, task });
    return drawn;
  } catch (error) {
    tuning.couldNotDraw();
    const isOther = error instanceof AuthorityRefusal && OTHER_LOG.has(error.code);
    throw isOther ? rolledBack(wanted.newest) : error;
  }
}

/** The entry that a buffer is drawn for: of the requested version, or the newest if versions are mixed. */
async function wantedModel({ models, policy }: DrawOptions, version: number): Promise<Wanted> {
  const newest = models.newest?.entry;
  const model = policy.versions === 'one' ? (await models.stored(version))?.entry : newest;
  if (newest === undefined || model === undefined)
    throw new AuthorityUnreachable('no version of the model is logged yet');
  return { model, newest };
}

/** A task has one nonce for all its versions: draws for different versions must give different buffers. */
function ofVersion(suite: Suite, nonce: Uint8Array, { model }: Wanted): Uint8Array {
  return suite.sha256(nonce, ascii(String(model.version))).slice(0, nonce.length);
}

/** Otherwise a sum could never become a model, because its version would not be ours. */
async function isUsable(
  { models, policy }: DrawOptions,
  { descriptor }: DescribedBuffer,
  { model }: Wanted,
): Promise<boolean> {
  const isWanted =
    policy.versions === 'one' ? descriptor.version === model.version : descriptor.version >= model.version;
  return isWanted && (await models.has(descriptor));
}

function rolledBack({ version }: { readonly version: number }): AuthorityUnreachable {
  return new AuthorityUnreachable(
    `its log has another model than this server at version ${version}; one of the services was rolled back`,
  );
}

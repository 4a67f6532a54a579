/** The seats of a task: in memory where a server is alone, in the database beside other nodes. Both have buffers drawn. */
import { ascii, type Suite } from '@basa/masking';
import type { BasaEvent, DescribedBuffer, DrawnBuffer, ServerPorts, TaskId, TaskPolicy } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { AuthorityRefusal, AuthorityUnreachable } from '../authority/authority-link.ts';
import type { Wanted } from '../authority/council-draw.ts';
import type { Revocations } from '../authority/revocations.ts';
import type { TaskAuthorities } from '../authority/task-authorities.ts';
import type { BufferKeeper } from '../buffers/buffer-keeper.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import type { Store } from '../store/store.ts';
import { type SeatGiver, Seats } from './seats.ts';
import { SharedSeats } from './shared-seats.ts';
import type { Tuning } from './tuning.ts';

interface SeatTools {
  readonly store: Store;
  readonly keeper: BufferKeeper;
  readonly revocations: Revocations;
  readonly ports: ServerPorts;
  readonly clock: () => number;
  onEvent(event: BasaEvent): void;
  onTrouble(what: string, error: unknown): void;
}

export interface TaskSeatsOptions {
  readonly tools: SeatTools;
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly authorities: TaskAuthorities;
  readonly models: ModelKeeper;
  readonly tuning: Tuning;
  /** Throws what to answer where this node knows that the task does not run. */
  checkRunning(): void;
  /** The store says that the task does not run: throws what to answer. */
  refuse(): Promise<never>;
}

/** A buffer that nobody trusted has filled in half of its time takes whoever comes. */
function lateMsOf({ openMs }: Pick<TaskPolicy, 'openMs'>): number {
  return openMs / 2;
}

export function ownSeats(options: TaskSeatsOptions): SeatGiver {
  const { tools, task, policy, models, tuning, checkRunning } = options;
  /** By version, the same until a buffer came of it: asked again, the authority gives the same buffer. */
  const nonces = new Map<number, Uint8Array>();
  return new Seats({
    ...tools,
    enrolledFor: { ...policy, task },
    tuned: () => tuning.at(tools.clock()),
    isNewest: (version) => version === (models.newest?.version ?? 0),
    async drawBuffer(version) {
      const nonce = nonces.get(version) ?? nodeRandomBytes(16);
      nonces.set(version, nonce);
      const wanted = await wantedModel(options, version);
      const drawn = await timed(options, nonce, wanted);
      nonces.delete(version);
      if (!(await isUsable(options, drawn, wanted))) throw rolledBack(drawn.descriptor);
      await tools.keeper.add({ ...drawn, task, drawnAt: await tools.store.now() });
    },
    bufferOf: (ctx) => tools.keeper.find(ctx),
    suspicions: () => tools.store.suspicions(task),
    minimum: policy.minimum,
    lateMs: lateMsOf(policy),
    checkRunning,
  });
}

export function sharedSeats(options: TaskSeatsOptions): SeatGiver {
  const { tools, task, policy, models, tuning, refuse } = options;
  const { store, keeper, onTrouble } = tools;
  return new SharedSeats({
    ...tools,
    enrolledFor: { ...policy, task },
    tuned: () => tuning.at(tools.clock()),
    // A nonce that a dead node left may be of a buffer of another version; one drawn anew is not.
    async drawBuffer(nonce, version) {
      await models.refresh();
      const wanted = await wantedModel(options, version);
      const drawn = await timed(options, ofVersion(tools.ports.suite, nonce, wanted), wanted);
      if (!(await isUsable(options, drawn, wanted))) {
        await store.forgetDraw(task, nonce);
        onTrouble('a buffer that was drawn is of no use', rolledBack(drawn.descriptor));
        return false;
      }
      const drawnAt = await store.now();
      await keeper.add({ ...drawn, task, drawnAt }, nonce);
      return drawnAt < drawn.descriptor.expiry;
    },
    bufferOf: (ctx) => keeper.fresh(ctx),
    lateMs: lateMsOf(policy),
    refuse,
  });
}

/** An authority says so whose log of models is another one than ours. */
const OTHER_LOG: ReadonlySet<string> = new Set(['wrong-version', 'model-not-logged', 'other-model']);

/** Draws a buffer, and learns how long that takes. */
async function timed(
  { tools, tuning, task, policy, authorities }: TaskSeatsOptions,
  nonce: Uint8Array,
  wanted: Wanted,
): Promise<DescribedBuffer> {
  const begun = tools.clock();
  try {
    const drawn = await authorities.drawBuffer(nonce, wanted);
    tuning.drew(tools.clock() - begun);
    // The answer came with a head: whoever was revoked by then takes no part in this buffer.
    await tools.revocations.catchUp({ ...policy, task });
    return drawn;
  } catch (error) {
    tuning.couldNotDraw();
    const isOther = error instanceof AuthorityRefusal && OTHER_LOG.has(error.code ?? '');
    throw isOther ? rolledBack(wanted.newest) : error;
  }
}

/** The entry that a buffer is drawn for: of the version that was asked for, or the newest if versions are mixed. */
async function wantedModel({ models, policy }: TaskSeatsOptions, version: number): Promise<Wanted> {
  const newest = models.newest?.entry;
  const model = policy.versions === 'one' ? (await models.stored(version))?.entry : newest;
  if (newest === undefined || model === undefined)
    throw new AuthorityUnreachable('no version of the model is logged yet');
  return { model, newest };
}

/** Nodes share a nonce for each task: what they draw for different versions must be different buffers. */
function ofVersion(suite: Suite, nonce: Uint8Array, { model }: Wanted): Uint8Array {
  return suite.sha256(nonce, ascii(String(model.version))).slice(0, nonce.length);
}

/** Else a sum could never become a model: its version would not be ours. */
async function isUsable(
  { models, policy }: TaskSeatsOptions,
  { descriptor }: DrawnBuffer,
  { model }: Wanted,
): Promise<boolean> {
  const isWanted =
    policy.versions === 'one' ? descriptor.version === model.version : descriptor.version >= model.version;
  return isWanted && (await models.has(descriptor));
}

function rolledBack({ version }: { readonly version: number }): AuthorityUnreachable {
  return new AuthorityUnreachable(
    `its log of models is not ours at version ${version}; one of the services was rolled back`,
  );
}

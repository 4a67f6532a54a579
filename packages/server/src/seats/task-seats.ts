/** The seats of a task: in memory where a server is alone, in the database beside other nodes. Both have buffers drawn. */
import type { BasaEvent, DrawnBuffer, ServerPorts, TaskId, TaskPolicy } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { AuthorityUnreachable } from '../authority/authority-link.ts';
import type { Revocations } from '../authority/revocations.ts';
import type { TaskAuthorities } from '../authority/task-authorities.ts';
import type { BufferKeeper } from '../buffers/buffer-keeper.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import type { Store } from '../store/store.ts';
import type { SeatGiver } from './seats.ts';
import { Seats } from './seats.ts';
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
  /** The same until a buffer came of it: asked again, the authority gives the same buffer. */
  let nonce: Uint8Array | undefined;
  return new Seats({
    ...tools,
    enrolledFor: { ...policy, task },
    tuned: () => tuning.at(tools.clock()),
    async drawBuffer() {
      const newest = models.newest?.version ?? 0;
      nonce ??= nodeRandomBytes(16);
      const drawn = await timed(options, nonce);
      nonce = undefined;
      if (!(await isUsable(models, drawn, newest))) throw rolledBack(drawn);
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
    // A nonce that a dead node left may be of a buffer before the newest model; one drawn anew is not.
    async drawBuffer(nonce) {
      await models.refresh();
      const newest = models.newest?.version ?? 0;
      const drawn = await timed(options, nonce);
      if (!(await isUsable(models, drawn, newest))) {
        await store.forgetDraw(task, nonce);
        onTrouble('a buffer that was drawn is of no use', rolledBack(drawn));
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

/** Draws a buffer, and learns how long that takes. */
async function timed(
  { tools, tuning, task, policy, authorities, models }: TaskSeatsOptions,
  nonce: Uint8Array,
): Promise<DrawnBuffer> {
  const begun = tools.clock();
  try {
    const entry = models.newest?.entry;
    if (entry === undefined) throw new AuthorityUnreachable('no version of the model is logged yet');
    const drawn = await authorities.drawBuffer(nonce, entry);
    tuning.drew(tools.clock() - begun);
    // The answer came with a head: whoever was revoked by then takes no part in this buffer.
    await tools.revocations.catchUp({ ...policy, task });
    return drawn;
  } catch (error) {
    tuning.couldNotDraw();
    throw error;
  }
}

/** Else a sum could never become a model: its version would not follow the log. */
async function isUsable(models: ModelKeeper, { descriptor }: DrawnBuffer, newest: number): Promise<boolean> {
  return descriptor.version >= newest && (await models.has(descriptor));
}

function rolledBack({ descriptor }: DrawnBuffer): AuthorityUnreachable {
  return new AuthorityUnreachable(
    `its newest model, version ${descriptor.version}, is not ours; one of the services was rolled back`,
  );
}

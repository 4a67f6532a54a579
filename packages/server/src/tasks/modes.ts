/** The modes of tasks, by the engine of their policy: this is the only place that chooses. */
import { type Ctx, ENGINE, type LiveBuffer, type SecureBuffer, type ShotBatch, type SumState } from '@basa/protocol';
import type { TaskAdmission } from '../admission/task-admission.ts';
import type { TaskAuthorities } from '../authority/task-authorities.ts';
import { fillingBatch, liveBatch, liveBuffer } from '../buffers/live-sums.ts';
import { Closer } from '../closing/closer.ts';
import type { Gatherer } from '../closing/gatherer.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import { SlotGatherer } from '../closing/slot-gatherer.ts';
import { VersionMaker } from '../closing/version-maker.ts';
import { ShotGatherer } from '../shots/shot-gatherer.ts';
import { ShotTask } from '../shots/shot-task.ts';
import type { ReadTask } from '../specification/task-specification.ts';
import type { Fence } from '../store/leases.ts';
import type { TaskTools } from './task-tools.ts';

export interface TaskMode {
  /** Brings the sums of the task to their end. */
  readonly closer: Pick<Closer<SumState>, 'due' | 'attend'>;
  /** Set in the one-shot mode. */
  readonly shots: ShotTask | undefined;
  /** Periodic work on every node. */
  listen(): Promise<void>;
  /** Gathers new uploads, if there are any: on the node with the lease. */
  look(under: (work: (fence: Fence) => Promise<void>) => Promise<void>): Promise<void>;
  /** The buffers among these sums that have slots. */
  buffers(living: readonly Ctx[]): Promise<readonly SecureBuffer[]>;
  /** The public view of a sum of the task. */
  show(ctx: Ctx): Promise<LiveBuffer | undefined>;
  /** Batches that still fill, the oldest version first; a buffer that fills is among the sums of the task. */
  filling(): Promise<readonly LiveBuffer[]>;
  /** Removes data that may be forgotten, now and then. */
  tidy(before: number): Promise<void>;
}

export interface ModeParts {
  readonly tools: TaskTools;
  readonly task: SumState['task'];
  readonly read: ReadTask;
  readonly authorities: TaskAuthorities;
  readonly models: ModelKeeper;
  readonly admission: TaskAdmission;
  idleMs(ctx: Ctx): number;
  onIncluded(): Promise<void>;
  onEnded(ctx: Ctx): void;
}

export function modeOf(parts: ModeParts): TaskMode {
  return parts.read.policy.engine === ENGINE.oneShot ? shotMode(parts) : slotMode(parts);
}

/** From `frozen` on, all modes are the same. */
function closerOf<Sum extends SumState>(parts: ModeParts, gatherer: Gatherer<Sum>): Closer<Sum> {
  const { tools, task, read, models, admission, onIncluded, onEnded } = parts;
  const onUnanswered = (sum: Sum): void => admission.setAside(sum);
  const versions = new VersionMaker<Sum>({ ...tools, task, read, gatherer, models, onIncluded, onUnanswered });
  return new Closer<Sum>({ ...tools, gatherer, versions, onUnanswered, onEnded });
}

function slotMode(parts: ModeParts): TaskMode {
  const { tools, read, authorities, models, admission, idleMs } = parts;
  const gatherer = new SlotGatherer({
    ...tools,
    authorities,
    models,
    stallMs: read.specification.stallMs,
    idleMs,
    quietMs: ({ rules }) => admission.quietMs(rules),
    coming: ({ rules }) => admission.coming(rules),
    versionsOf: (ctx, user) => admission.versionsOf(ctx, user),
  });
  return {
    closer: closerOf<SecureBuffer>(parts, gatherer),
    shots: undefined,
    listen: async () => undefined,
    look: async () => undefined,
    async buffers(living) {
      const found = await Promise.all(living.map((ctx) => tools.keeper.find(ctx)));
      return found.filter((buffer) => buffer !== undefined);
    },
    async show(ctx) {
      const buffer = await tools.keeper.find(ctx);
      return buffer && liveBuffer(buffer);
    },
    filling: async () => [],
    tidy: async () => undefined,
  };
}

function shotMode(parts: ModeParts): TaskMode {
  const { tools, task, read, authorities, models, admission } = parts;
  const { oneShot } = read.policy;
  if (oneShot === undefined) throw new RangeError('the policy has the engine of the one-shot mode, and not its lines');
  const policy = { ...read.policy, oneShot };
  const ofVersion = (version: number) => ({ version, versions: policy.versions });
  const coming = {
    quietMs: (version: number) => admission.quietMs(ofVersion(version)),
    coming: (version: number) => admission.coming(ofVersion(version)),
    trackWaiting: admission.trackWaiting.bind(admission),
  };
  const { stallMs } = read.specification;
  const shots = new ShotTask({ ...tools, task, policy }, { authorities, models, coming, stallMs });
  const { standings, inspector } = shots;
  const gatherer = new ShotGatherer({
    ...tools,
    task,
    policy,
    authorities,
    models,
    standings,
    inspector,
    coming,
    stallMs,
  });
  return {
    closer: closerOf<ShotBatch>(parts, gatherer),
    shots,
    listen: () => standings.look(),
    look: (under) => under((fence) => shots.look(fence)),
    buffers: async () => [],
    async show(ctx) {
      const batch = await tools.batches.find(ctx);
      return batch && liveBatch(batch);
    },
    async filling() {
      const groups = await tools.store.shotGroups(task);
      return groups.filter(({ waiting, good }) => waiting + good > 0).map((group) => fillingBatch(policy, group));
    },
    async tidy(before) {
      await standings.forget();
      await tools.store.forgetShots(task, before);
    },
  };
}

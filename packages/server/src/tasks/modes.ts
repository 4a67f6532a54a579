/** The two modes of tasks: this is the only place that chooses. */
import type { Ctx, LiveBuffer, TaskId } from '@basa/protocol';
import type { TaskAdmission } from '../admission/task-admission.ts';
import type { TaskAuthorities } from '../authority/authorities.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import { fillingBatch, liveBatch } from '../shots/batches.ts';
import { ShotGatherer } from '../shots/shot-gatherer.ts';
import { ShotTask } from '../shots/shot-task.ts';
import type { ReadTask } from '../specification/task-specification.ts';
import { WindowEnds, WindowResults } from '../statistics/windows.ts';
import type { Fence } from '../store/sql.ts';
import { Closer, Repeats } from './closer.ts';
import { PaperTask } from './paper-task.ts';
import type { TaskTools } from './task-tools.ts';
import { VersionMaker } from './version-maker.ts';

type Under = (work: (fence: Fence) => Promise<void>) => Promise<void>;

export interface TaskMode {
  /** Set in one-shot mode. */
  readonly shots?: ShotTask;
  /** Set in a statistics task. */
  readonly statistics?: WindowResults;
  /** Set in paper mode. */
  readonly paper?: PaperTask;
  /** The batches to be attended to now, among these. */
  due(names: readonly Ctx[]): readonly Ctx[];
  /** Takes a batch as far as possible now. */
  attend(ctx: Ctx, fence: Fence | undefined): Promise<void>;
  /** Periodic work on every node. */
  listen(): Promise<void>;
  /** Gathers new uploads, if there are any: on the node with the lease. */
  look(under: Under): Promise<void>;
  /** Other periodic work on the node with the lease. */
  tick(under: Under): Promise<void>;
  /** The public view of a batch of the task. */
  show(ctx: Ctx): Promise<LiveBuffer | undefined>;
  /** Batches that still fill, the oldest version first. */
  filling(): Promise<readonly LiveBuffer[]>;
  /** Removes data that may be forgotten, now and then. */
  tidy(before: number): Promise<void>;
}

export interface ModeParts {
  readonly tools: TaskTools;
  readonly task: TaskId;
  readonly read: ReadTask;
  readonly authorities: TaskAuthorities;
  readonly models: ModelKeeper;
  readonly admission: TaskAdmission;
  /** A version was made. */
  onIncluded(): Promise<void>;
  /** A batch has ended. */
  onEnded(ctx: Ctx): void;
}

export function modeOf(parts: ModeParts): TaskMode {
  return parts.read.mode === 'paper' ? paperMode(parts) : shotMode(parts);
}

function paperMode({ tools, task, read, models, onIncluded }: ModeParts): TaskMode {
  const paper = new PaperTask({ tools, task, read, models, onModel: onIncluded });
  return {
    paper,
    due: () => [],
    attend: async () => undefined,
    listen: async () => undefined,
    look: async () => undefined,
    tick: () => paper.tick(),
    show: async () => undefined,
    filling: async () => [],
    tidy: async () => undefined,
  };
}

function shotMode(parts: ModeParts): TaskMode {
  const { tools, task, read, authorities, models, admission, onIncluded, onEnded } = parts;
  const { oneShot, statistics } = read.policy;
  if (oneShot === undefined) throw new RangeError('the policy has the engine of the one-shot mode, and not its lines');
  const policy = { ...read.policy, oneShot };
  const ends = statistics && new WindowEnds(statistics, tools.clock);
  const coming = ends ?? admission;
  // The batches of a window that goes on are full, or the time to vote for them runs out.
  const stallMs = ends === undefined ? read.specification.stallMs : undefined;
  const shots = new ShotTask({ ...tools, task, policy }, { authorities, models, coming, stallMs });
  const { epochs, inspector } = shots;
  const shared = { ...tools, task, policy, authorities, models };
  const gatherer = new ShotGatherer({ ...shared, epochs, inspector, coming, stallMs });
  const onUnanswered = admission.setAside.bind(admission);
  const results =
    ends && statistics && new WindowResults({ ...tools, task, policy: { ...policy, statistics }, ends, onIncluded });
  const versions = results ?? new VersionMaker({ ...tools, task, read, gatherer, models, onIncluded });
  const closer = new Closer({ ...tools, gatherer, versions, onUnanswered, onEnded });
  const repeats = new Repeats({ ...tools, task, policy, models, coming: admission, stallMs });
  return {
    shots,
    ...(results !== undefined && { statistics: results }),
    due: (names) => closer.due(names),
    attend: (ctx, fence) => closer.attend(ctx, fence),
    async listen() {
      await results?.look();
      await epochs.look();
    },
    look: (under) => under((fence) => shots.look(fence)),
    async tick(under) {
      if (results === undefined && (await repeats.isDue())) await under((fence) => repeats.repeat(fence));
    },
    async show(ctx) {
      const batch = await tools.batches.find(ctx);
      return batch && liveBatch(batch);
    },
    async filling() {
      const groups = await tools.store.shotGroups(task);
      return groups.filter(({ waiting, good }) => waiting + good > 0).map((group) => fillingBatch(policy, group));
    },
    async tidy(before) {
      await epochs.forget();
      await tools.store.forgetShots(task, before);
    },
  };
}

/** Values that are read at each scrape: the copies in memory of batches that have not ended, tasks and their models. */
import { toHex } from '@basa/masking';
import {
  type AdmissionView,
  epsilonBudget,
  type FieldResult,
  type SumState,
  type TaskId,
  type TaskPolicy,
  type WindowResult,
} from '@basa/protocol';
import type { Metrics, Sample } from '@basa/service';
import type { StoredModel } from '../store/models.ts';
import type { PendingShots } from '../store/shots.ts';

/** The values that are read of a running task. */
export interface WatchedTask {
  readonly task: TaskId;
  readonly state: string;
  readonly read: { readonly policy: Pick<TaskPolicy, 'name' | 'privacy' | 'metrics'> };
  readonly models: { readonly newest: StoredModel | undefined };
  readonly admission: { readonly view: AdmissionView };
  readonly mode: {
    readonly shots?: { readonly pending: PendingShots | undefined };
    readonly statistics?: { readonly newest: WindowResult | undefined };
  };
  readonly stored: { readonly bytes: number | undefined };
}

export interface GaugeSources {
  readonly clock: () => number;
  tasks(): readonly WatchedTask[];
  /** By its name in hex. */
  task(name: string): WatchedTask | undefined;
  /** Copies of the batches that have not ended. */
  batches(): readonly SumState[];
}

/** People know a task by its name, but two tasks may share one. */
export function taskLabel({ task, read }: WatchedTask): string {
  return `${Buffer.from(read.policy.name).toString('utf8')}-${toHex(task).slice(0, 8)}`;
}

export function serverGauges(metrics: Metrics, sources: GaugeSources): void {
  const { clock } = sources;
  const eachTask = <Value>(read: (task: WatchedTask) => readonly Value[]): Value[] => sources.tasks().flatMap(read);
  const one = (task: WatchedTask, value: number | undefined): readonly (readonly [{ task: string }, number])[] =>
    value === undefined ? [] : [[{ task: taskLabel(task) }, value]];
  const newestOf = ({ models, mode }: WatchedTask): StoredModel | undefined =>
    mode.statistics === undefined ? models.newest : undefined;
  const seconds = (ms: number): number => Math.max(0, ms / 1000);

  metrics.gauge('basa_task_running', () => eachTask((task) => one(task, Number(task.state === 'running'))));
  metrics.gauge('basa_buffers', () =>
    eachTask((task) => {
      const own = sources.batches().filter((batch) => toHex(batch.task) === toHex(task.task));
      return counted(['frozen', 'granted', 'opened'], own, ({ status }) => status).map(
        ([status, count]): Sample<'basa_buffers'> => [{ task: taskLabel(task), status }, count],
      );
    }),
  );
  metrics.gauge('basa_shots', () =>
    eachTask((task) =>
      Object.entries(task.mode.shots?.pending ?? {}).map(
        ([state, count]): Sample<'basa_shots'> => [{ task: taskLabel(task), state }, count],
      ),
    ),
  );
  metrics.gauge('basa_places', () => eachTask((task) => one(task, task.admission.view.places)));
  metrics.gauge('basa_places_used', () => eachTask((task) => one(task, task.admission.view.used)));
  metrics.gauge('basa_devices_waiting', () => eachTask((task) => one(task, task.admission.view.waiting)));
  metrics.gauge('basa_task_stored_bytes', () => eachTask((task) => one(task, task.stored.bytes)));
  metrics.gauge('basa_buffers_waiting', () => eachTask((task) => one(task, task.admission.view.waitingBuffers)));
  metrics.gauge('basa_model_mean_age', () => eachTask((task) => one(task, newestOf(task)?.meanAge)));
  metrics.gauge('basa_model_version', () => eachTask((task) => one(task, newestOf(task)?.version)));
  metrics.gauge('basa_model_age_seconds', () =>
    eachTask((task) => {
      const newest = newestOf(task);
      return one(task, newest === undefined ? undefined : seconds(clock() - newest.madeAt));
    }),
  );
  metrics.gauge('basa_device_metric', () =>
    eachTask((task) =>
      Object.entries(newestOf(task)?.metrics ?? {}).map(
        ([metric, value]): Sample<'basa_device_metric'> => [{ task: taskLabel(task), metric }, value],
      ),
    ),
  );
  metrics.gauge('basa_statistics_devices', () => eachTask((task) => one(task, task.mode.statistics?.newest?.devices)));
  const eachField = <Value>(read: (label: string, field: FieldResult) => readonly Value[]): Value[] =>
    eachTask((task) => (task.mode.statistics?.newest?.fields ?? []).flatMap((field) => read(taskLabel(task), field)));
  metrics.gauge('basa_statistics_mean', () =>
    eachField((task, field): readonly Sample<'basa_statistics_mean'>[] =>
      field.kind === 'number' ? [[{ task, field: field.name }, field.mean]] : [],
    ),
  );
  metrics.gauge('basa_statistics_bucket_devices', () =>
    eachField((task, field): readonly Sample<'basa_statistics_bucket_devices'>[] =>
      field.kind === 'number'
        ? []
        : field.buckets.map(({ bucket, count }) => [{ task, field: field.name, bucket }, count]),
    ),
  );
  metrics.gauge('basa_privacy_epsilon', () => eachTask((task) => one(task, epsilonBudget(task.read.policy))));
  metrics.gauge('basa_model_accuracy', () => eachTask((task) => one(task, newestOf(task)?.accuracy)));
  metrics.gauge('basa_model_r2', () => eachTask((task) => one(task, newestOf(task)?.r2)));
}

/** The number of each kind, including zeros. */
function counted<Thing>(
  kinds: readonly string[],
  things: readonly Thing[],
  kindOf: (thing: Thing) => string,
): readonly (readonly [string, number])[] {
  return kinds.map((kind) => [kind, things.filter((thing) => kindOf(thing) === kind).length]);
}

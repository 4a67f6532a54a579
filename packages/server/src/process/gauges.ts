/** Values that are read at each scrape: tasks, their models, and their open batches as of the last look. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { type FieldResult, Privacy } from '@basa/protocol/policy';
import type { Metrics, Sample } from '@basa/service';
import type { StoredModel } from '../store/models.ts';
import type { RunningTask } from '../tasks/running-task.ts';

/** People know a task by its name, but two tasks may share one. */
export function taskLabel(task: TaskId, running: RunningTask | undefined): string {
  const name = toHex(task).slice(0, 8);
  return running === undefined ? name : `${Buffer.from(running.read.policy.name).toString('utf8')}-${name}`;
}

export function serverGauges(metrics: Metrics, tasks: () => readonly RunningTask[], clock: () => number): void {
  const labelOf = (task: RunningTask): string => taskLabel(task.task, task);
  const eachTask = <Value>(read: (task: RunningTask) => readonly Value[]): Value[] => tasks().flatMap(read);
  const one = (task: RunningTask, value: number | undefined): readonly (readonly [{ task: string }, number])[] =>
    value === undefined ? [] : [[{ task: labelOf(task) }, value]];
  const newestOf = ({ models, mode }: RunningTask): StoredModel | undefined =>
    mode.statistics === undefined ? models.newest : undefined;
  const seconds = (ms: number): number => Math.max(0, ms / 1000);

  metrics.gauge('basa_task_running', () => eachTask((task) => one(task, Number(task.state === 'running'))));
  metrics.gauge('basa_batches', () =>
    eachTask((task) =>
      ['frozen', 'granted', 'opened'].map((status): Sample<'basa_batches'> => {
        const own = task.open.filter((batch) => batch.status === status);
        return [{ task: labelOf(task), status }, own.length];
      }),
    ),
  );
  metrics.gauge('basa_shots', () =>
    eachTask((task) =>
      Object.entries(task.mode.shots?.pending ?? {}).map(
        ([state, count]): Sample<'basa_shots'> => [{ task: labelOf(task), state }, count],
      ),
    ),
  );
  metrics.gauge('basa_places', () => eachTask((task) => one(task, task.admission.view.places)));
  metrics.gauge('basa_places_used', () => eachTask((task) => one(task, task.admission.view.used)));
  metrics.gauge('basa_devices_waiting', () => eachTask((task) => one(task, task.admission.view.waiting)));
  metrics.gauge('basa_task_stored_bytes', () => eachTask((task) => one(task, task.stored.bytes)));
  metrics.gauge('basa_batches_waiting', () => eachTask((task) => one(task, task.admission.view.waitingBatches)));
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
        ([metric, value]): Sample<'basa_device_metric'> => [{ task: labelOf(task), metric }, value],
      ),
    ),
  );
  metrics.gauge('basa_statistics_devices', () => eachTask((task) => one(task, task.mode.statistics?.newest?.devices)));
  const eachField = <Value>(read: (label: string, field: FieldResult) => readonly Value[]): Value[] =>
    eachTask((task) => (task.mode.statistics?.newest?.fields ?? []).flatMap((field) => read(labelOf(task), field)));
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
  metrics.gauge('basa_privacy_epsilon', () => eachTask((task) => one(task, Privacy.epsilonBudget(task.read.policy))));
  metrics.gauge('basa_model_accuracy', () => eachTask((task) => one(task, newestOf(task)?.accuracy)));
  metrics.gauge('basa_model_r2', () => eachTask((task) => one(task, newestOf(task)?.r2)));
}

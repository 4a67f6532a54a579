/** `--metric name=value` of a device that offers an update from a file: one number for each metric that the task names. */
import type { MetricRange } from '@basa/protocol/policy';
import { CommandError } from '../shell/command-error.ts';
import { texts } from '../shell/flag.ts';

export const METRIC_FLAGS = {
  metric: texts({ value: 'name=value', help: 'with --update: the value of a metric that the task asks for' }),
};

/** Every client measures this one itself. */
const MEASURED = 'clipped';

/** Throws a sentence if a metric is missing, is not part of the task, or is not a number. */
export function metricValues(
  typed: readonly string[],
  asked: readonly Pick<MetricRange, 'name'>[],
): Readonly<Record<string, number>> {
  const names = asked.map(({ name }) => name).filter((name) => name !== MEASURED);
  const entries = typed.map((text) => metricOf(text, names));
  const missing = names.filter((name) => !entries.some(([given]) => given === name));
  if (missing.length > 0)
    throw new CommandError(
      `the task asks for ${names.join(', ')} with every update; add ${missing.map((name) => `--metric ${name}=<number>`).join(' ')}`,
    );
  return Object.fromEntries(entries);
}

function metricOf(text: string, names: readonly string[]): readonly [string, number] {
  const [, name = '', value = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === '' || !Number.isFinite(Number(value)))
    throw new CommandError(`--metric takes name=value with a finite number, got "${text}"`);
  if (!names.includes(name))
    throw new CommandError(
      names.length === 0
        ? `the task asks for no metrics; remove --metric ${text}`
        : `the task has no metric "${name}"; it asks for ${names.join(', ')}`,
    );
  return [name, Number(value)];
}

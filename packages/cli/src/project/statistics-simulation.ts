/** `basa simulate --statistics`: devices report values of a CSV file, and the results are shown beside the true values. */

import { readFile } from 'node:fs/promises';
import { type FieldDefinitions, type FieldResult, Statistics } from '@basa/protocol/policy';
import type { SimulatedWindow } from '@basa/simulator/virtual-time';
import { CommandError, type CommandInput, type CommandResult } from '../shell/command.ts';
import { bar, percent, table } from '../shell/terminal.ts';
import { comparedValues, coverageOf, DEVIATIONS, type KnownFields, shown, truthsOf } from '../tasks/statistics.ts';
import { type SIMULATION_FLAGS, simulationOf } from './simulation-flags.ts';

export async function simulateFields(
  { flags, positionals, terminal, signal }: CommandInput<typeof SIMULATION_FLAGS>,
  definitions: FieldDefinitions,
): Promise<CommandResult> {
  if (positionals.length > 0) throw new CommandError('statistics have no model file; remove its name');
  if (flags.csv === undefined) throw new CommandError('the values of the devices are missing; add --csv <file>');
  const { devices, bufferSize, protocols, versions: windows, seed } = simulationOf(flags);
  const [protocol] = protocols;
  if (protocols.length > 1 || (protocol !== 'one-shot' && protocol !== 'one-shot-3-of-4'))
    throw new CommandError('statistics need --protocol one-shot or one-shot-3-of-4');
  const { statisticsPolicy } = await import('@basa/client/operator');
  const { simulateStatistics } = await import('@basa/simulator/virtual-time');
  const key = (n: number): Uint8Array => new Uint8Array(32).fill(n);
  const authorities = (protocol === 'one-shot' ? [1] : [1, 2, 3, 4]).map(key);
  const settings = { name: 'simulation', fields: definitions, windowMs: 3_600_000, bufferSize };
  const policy = statisticsPolicy(
    { ...settings, unsafeExact: flags['unsafe-exact'] },
    { serverKey: key(0), authorities },
  );
  const { statistics } = policy;
  if (statistics === undefined) throw new Error('a policy without its fields');
  const reports = await reportsIn(flags.csv, statistics.fields);
  const { minimum, level, privacy } = policy;
  terminal.line(
    `${devices} devices, ${windows} windows, K = ${bufferSize}, Kmin = ${minimum}, ${privacy === undefined ? 'no noise' : `noise ${privacy.noiseMultiplier}`}, level ${level}`,
  );
  for (const { name } of statistics.fields) {
    const outside = reports.filter((report) =>
      Statistics.reportWords(statistics.fields, report).outside.includes(name),
    ).length;
    if (outside > 0) terminal.warn(`${outside} of ${reports.length} rows have a value out of range in ${name}`);
  }
  const onWindow = ({ window }: SimulatedWindow): void =>
    terminal.isLive ? terminal.status(`${bar(window / windows)} window ${window} of ${windows}`) : undefined;
  const made = await simulateStatistics({
    ...{ policy: { ...policy, statistics }, reports, devices, windows, seed, signal, onWindow },
  });
  terminal.clearStatus();
  const good = made
    .filter(({ fields }) => fields.length > 0)
    .map((window) => ({ ...window, truths: truthsOf(statistics.fields, window.reports) }));
  const last = good.at(-1);
  if (last === undefined)
    throw new CommandError(`no window has ${minimum} reports; use more --devices or a smaller --buffer`);
  const values = last.fields.flatMap(({ name, error }, n) =>
    comparedValues(last.fields[n] as FieldResult, last).map(({ label, value, truth }, k) => {
      const isInside = (window: KnownFields): boolean =>
        comparedValues(window.fields[n] as FieldResult, window)[k]?.isInside === true;
      return { field: name, bucket: label, value, error, truth, inside: good.filter(isInside).length };
    }),
  );
  const coverage = coverageOf(good);
  terminal.line(
    `\nWindow ${last.window}, of ${last.devices} devices:\n${table([
      ['field', 'bucket', 'value', 'error', 'true', 'true values in 95 % error bars'],
      ...values.map(({ field, bucket, value, error, truth, inside }) => [
        field,
        bucket === '' ? 'mean' : bucket,
        shown(value),
        `± ${shown(DEVIATIONS * error)}`,
        shown(truth),
        privacy === undefined ? '' : `${inside} of ${good.length} windows`,
      ]),
    ])}`,
  );
  terminal.line(
    privacy === undefined
      ? '\nWithout noise, values differ from the true ones only by the rounding to steps, and by values out of range.'
      : `\n${percent(coverage)} of all true values are inside their 95 % error bars, which are those of the noise.`,
  );
  const lost = made.reduce((sum, window) => sum + window.lost, 0);
  if (lost > 0) terminal.line(`${lost} reports are in no result: a sum needs ${minimum} of them.`);
  return {
    json: { statistics: { devices, windows, bufferSize, minimum, level, lost, values, ...(privacy && { coverage }) } },
  };
}

/** Each row as a report; other columns are left out. */
async function reportsIn(
  file: string,
  fields: readonly Statistics.StatisticsField[],
): Promise<readonly Statistics.Report[]> {
  const { csvRows } = await import('@basa/learning/files');
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError(`--csv ${file}: ${error.message}`);
  });
  try {
    const rows = csvRows(text);
    if (rows.length === 0) throw new RangeError('it has no row below the names of its columns');
    return rows.map((row, n) => Object.fromEntries(fields.map((field) => [field.name, valueIn(row, field, n + 1)])));
  } catch (error) {
    throw error instanceof RangeError ? new CommandError(`--csv ${file}: ${error.message}`) : error;
  }
}

function valueIn(
  row: Readonly<Record<string, string>>,
  { kind, name }: Statistics.StatisticsField,
  n: number,
): number | string {
  const cell = row[name];
  if (cell === undefined) throw new RangeError(`it has no column ${name}, only ${Object.keys(row).join(', ')}`);
  if (kind === 'choices') return cell;
  const value = cell.trim() === '' ? Number.NaN : Number(cell);
  if (Number.isNaN(value)) throw new RangeError(`the column ${name} of row ${n} is no number: "${cell}"`);
  return value;
}

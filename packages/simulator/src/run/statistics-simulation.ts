/** Devices that report statistics in a federation in memory: the results of each window, and the reports that are in it. */
import { setImmediate as othersFirst } from 'node:timers/promises';
import { type RandomWords, toSigned } from '@basa/masking';
import { granted, isRefused } from '@basa/protocol';
import { buildReport } from '@basa/protocol/one-shot';
import { type FieldResult, fieldResults, Statistics, type TaskPolicy } from '@basa/protocol/policy';
import { InputWords, ModelStatement, signStatement } from '@basa/protocol/wire';
import { OneShotFederation } from '../federation/one-shot-federation.ts';
import { nodeEnvironment } from '../simulation/environment.ts';

export interface StatisticsOptions {
  /** Everything but its keys, which the federation makes. */
  readonly policy: TaskPolicy & { readonly statistics: Statistics.StatisticsPolicy };
  /** Devices take them in turn, from one window to the next. */
  readonly reports: readonly Statistics.Report[];
  readonly devices: number;
  readonly windows: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  onWindow(window: SimulatedWindow): void;
}

export interface SimulatedWindow {
  readonly window: number;
  /** In its sums. */
  readonly devices: number;
  /** Reports that are in no sum, because they were fewer than Kmin. */
  readonly lost: number;
  /** Empty if no report is in a sum. */
  readonly fields: readonly FieldResult[];
  /** The reports in its sums. */
  readonly reports: readonly Statistics.Report[];
}

export async function simulateStatistics(options: StatisticsOptions): Promise<readonly SimulatedWindow[]> {
  const { devices, reports, windows, signal, onWindow } = options;
  const made: SimulatedWindow[] = [];
  for (let window = 1; window <= windows; window++) {
    await othersFirst();
    signal.throwIfAborted();
    const first = (window - 1) * devices;
    const own = Array.from({ length: devices }, (_, n) => reports[(first + n) % reports.length] as Statistics.Report);
    made.push(simulateWindow(options, window, own));
    onWindow(made.at(-1) as SimulatedWindow);
  }
  return made;
}

function simulateWindow(
  { policy, seed }: StatisticsOptions,
  window: number,
  own: readonly Statistics.Report[],
): SimulatedWindow {
  const { statistics } = policy;
  const { fields, windowMs } = statistics;
  const world = worldOf(policy, window * windowMs, seed + window);
  const statement = Statistics.windowStatement(world.task, statistics, window);
  world.server.statements.splice(0, 1, signStatement(ModelStatement, world.server.ports.signer, statement));
  const random: RandomWords = (target) =>
    new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(world.randomBytes(target.byteLength));
  const byUser = new Map<string, Statistics.Report>();
  for (const report of own) {
    const device = world.shooter();
    byUser.set(`${device.own.user}`, report);
    const input = buildReport(
      InputWords.sumRules(world.policy, window),
      Statistics.reportWords(fields, report).words,
      random,
    );
    granted(device.contribute(undefined, input));
  }
  const opened = openedSums(world);
  const included = opened.flatMap(({ users }) => users.map((user) => byUser.get(user) as Statistics.Report));
  const sums = Array.from({ length: policy.dimension }, (_, n) => total(opened.map(({ words }) => words[n] as number)));
  const devices = included.length;
  return {
    window,
    devices,
    lost: own.length - devices,
    fields: devices === 0 ? [] : fieldResults(policy, { devices, batches: opened.length, sums }),
    reports: included,
  };
}

function worldOf(policy: TaskPolicy, now: number, seed: number): OneShotFederation {
  const { authorities, serverKey: _, threshold, bufferSize, ...lines } = policy;
  const council = { authorities: authorities.length, threshold };
  return new OneShotFederation(nodeEnvironment, { bufferSize, council, policy: lines, now, seed });
}

interface Opened {
  readonly users: readonly string[];
  /** Of the sum, with its noise. */
  readonly words: readonly number[];
}

/** As many full batches as there are, and one of what is left. */
function openedSums({ policy, shots }: OneShotFederation): readonly Opened[] {
  shots.inspect();
  const opened: Opened[] = [];
  for (let ctx = shots.form(); ctx !== undefined; ctx = shots.form()) {
    const verdict = shots.close(ctx);
    if (isRefused(verdict) || verdict.kind === 'quarantine') continue;
    const users = shots.batch(ctx).batch.uploads.map((name) => `${shots.shot(name).upload.header.user}`);
    opened.push({ users, words: Array.from(verdict.sum, (word) => toSigned(word, policy.modulus)) });
  }
  return opened;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

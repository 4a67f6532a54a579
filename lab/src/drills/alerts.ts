/** Trouble that is provoked, one kind after the other, until a real Prometheus says so. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomStream } from '@basa/learning';
import { bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { oneShotLines } from '../trials/one-shot.ts';
import type { TrialInput } from '../trials/program.ts';
import { emptyTally, SoakDevice, type SoakWork } from '../trials/soak/device.ts';
import { Prometheus } from './prometheus.ts';

export interface AlertsReport {
  readonly fired: string;
  readonly problems: readonly string[];
}

const PATIENCE_MS = 90_000;
const STUMBLES = 40;
const STILL_MS = 650;
const MOMENT_MS = 60;
const DEVICES = 3;
/** Two honest devices cannot fill a batch of three without the liar. */
const POLICY = { dimension: 256, bufferSize: DEVICES, minimum: 2, uploadLeaseMs: 5000 };

/** The trouble that is provoked, by the alert that must follow. */
type Trouble = readonly [alert: string, provoke: (basa: TestProcesses, work: SoakWork) => Promise<void>];

const TROUBLES: readonly Trouble[] = [
  ['BasaNoNewVersion', async () => {}], // there are no devices yet
  ['BasaQuarantined', startDevices],
  ['BasaEventLoopLate', stumble],
  ['BasaAuthorityUnreachable', (basa) => basa.stop('authority')],
  ['BasaDown', (basa) => basa.stop('server')],
];

export async function runAlerts({ seed, onLine }: TrialInput): Promise<AlertsReport> {
  Prometheus.check();
  const policy = { ...POLICY, ...oneShotLines() };
  const bundle = await bundleProcesses();
  const basa = await TestProcesses.open({ bundle, policy, specification: { stallMs: 500 } });
  const ending = new AbortController();
  const tally = emptyTally();
  const shared = { processes: basa, chance: randomStream(seed, 'alerts'), tally, signal: ending.signal };
  const work: SoakWork = { ...shared, offered: [], latencies: [] };
  const folder = join(basa.folder, 'prometheus');
  mkdirSync(folder);
  const targets = {
    'basa-server': new URL(basa.urls.server).host,
    'basa-authority': new URL(basa.urls.authority).host,
  };
  const prometheus = await Prometheus.start(folder, basa.token, targets);
  const fired: string[] = [];
  try {
    for (const [alert, provoke] of TROUBLES) {
      await provoke(basa, work);
      const isFiring = await prometheus.fires(alert, PATIENCE_MS);
      onLine(`${alert}: ${isFiring ? 'fires' : 'does not fire'}`);
      if (isFiring) fired.push(alert);
    }
    const silent = TROUBLES.flatMap(([alert]) => (fired.includes(alert) ? [] : [alert]));
    return { fired: fired.join(', '), problems: silent.map((alert) => `${alert} does not fire`) };
  } finally {
    ending.abort();
    await prometheus.stop();
    await basa.close();
  }
}

/** One of them lies about every second update. They continue until the drill ends, even while a service is down. */
async function startDevices(basa: TestProcesses, work: SoakWork): Promise<void> {
  const tokens = await basa.authority.tokens(basa.task, DEVICES, Date.now() + 86_400_000);
  for (const [n, token] of tokens.entries()) void new SoakDevice(work, n === 0).live(token).catch(() => {});
}

/** Again and again for a while, as on a machine with too much to do: it runs for moments only. */
async function stumble(basa: TestProcesses): Promise<void> {
  const child = basa.children.get('server');
  const stumbling = async (): Promise<void> => {
    for (let times = 0; times < STUMBLES; times++) {
      child?.kill('SIGSTOP');
      await sleep(STILL_MS);
      child?.kill('SIGCONT');
      await sleep(MOMENT_MS);
    }
  };
  void stumbling();
}

/**
 * Runs server, authority and devices as processes under load, kills each repeatedly while it works, and then checks the result from
 * outside. With PostgreSQL the server has three nodes. They are also stopped for longer than their leases, and the database is killed too.
 * The run never waits for a fixed time, only for progress of the fleet.
 */

import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomStream } from '@basa/learning';
import { type ProcessName, TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial } from '../bundle.ts';
import { oneShotLines } from '../one-shot.ts';
import { PowerCuts } from '../powercut/shim.ts';
import { CrashDatabase } from './crash-database.ts';
import { Fleet } from './fleet.ts';
import { Plan } from './plan.ts';
import { gone, grown, isAlive, settle } from './settle.ts';
import { judge, type Verdict } from './verdict.ts';

export interface CrashOptions {
  /** Deaths, and stops of nodes past their leases. */
  readonly kills: number;
  readonly seed: number;
  readonly store?: 'embedded' | 'postgres';
  /** The number of updates of a step (those of one batch). */
  readonly updates?: number | undefined;
  /** Each kill is a power cut: data that the process had not flushed is lost. Not with PostgreSQL. */
  readonly isPowerCut?: boolean;
  onKill?(line: string): void;
}

export interface CrashReport extends Verdict {
  readonly kills: number;
  /** The number of kills of each kind of process at each kind of durable moment. */
  readonly moments: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly powerCuts?: PowerCuts['counts'];
}

const DEVICE_PROCESSES = 2;
const DEVICES_EACH = 4;
/** As `basa dev` chooses them for eight devices. */
const SIZES = { bufferSize: 4, minimum: 3 };
const PLACES = 8;
/** More coordinates than a run has updates. */
const PLACES_PER_KILL = 60;
const STALL_MS = 1000;
const NODES = 3;
const LEASE_MS = 1000;
/** The time for which a node is stopped: longer than its lease, and sometimes longer than the database lets it hold locks. */
const STOP_MS = { least: 2000, most: 6500 };
const STOPPED_SHARE = 0.3;
/** With PostgreSQL there are more processes to kill, so each lives longer, to make progress between kills. The database lives longest. */
const PACE = { embedded: 1, postgres: 3 };
const DATABASE_STEPS = 60;
/** The message of a node that cannot reach its database when it starts. */
const NO_DATABASE = 3;
/** A process is also killed if the fleet makes no progress because other processes are down. */
const PATIENCE_MS = 20_000;

export async function runCrashes(options: CrashOptions): Promise<CrashReport> {
  if (options.store !== 'postgres') return crash(options, undefined);
  const database = await CrashDatabase.open();
  try {
    return await crash(options, database);
  } finally {
    await database.close();
  }
}

async function crash(
  { kills, seed, updates, isPowerCut = false, onKill = () => {} }: CrashOptions,
  database: CrashDatabase | undefined,
): Promise<CrashReport> {
  const bundle = await bundleTrial({ watched: true });
  const dimension = Math.max(2048, kills * PLACES_PER_KILL);
  const chance = randomStream(seed, 'crash');
  const balancing = randomStream(seed, 'balancing');
  const nodes = database && { count: NODES, databaseUrl: database.url, random: () => balancing.unit() };
  const basa: TestProcesses = await TestProcesses.open({
    bundle,
    policy: { dimension, ...SIZES, ...oneShotLines({ stepUpdates: updates }) },
    specification: { stallMs: STALL_MS, places: PLACES },
    ...(nodes && { nodes, server: { leaseMs: LEASE_MS } }),
  });
  const running = new Set<ChildProcess>();
  const cutting = randomStream(seed, 'power cuts');
  const cutsFolder = `${basa.folder}-cuts`;
  try {
    const powerCuts = isPowerCut ? new PowerCuts(cutsFolder, () => cutting.unit()) : undefined;
    const script = bundle.file('devices');
    const fleet = await Fleet.enrolled({
      basa,
      script,
      processes: DEVICE_PROCESSES,
      devicesEach: DEVICES_EACH,
    });
    const plan = new Plan(chance);
    let left = kills;

    /** Waits until the fleet has taken this number of steps, or cannot. */
    const during = async (steps: number, isOver = (): boolean => false): Promise<void> => {
      const pace = PACE[database === undefined ? 'embedded' : 'postgres'];
      const enough = fleet.steps + steps * pace;
      const patience = Date.now() + PATIENCE_MS * pace;
      while (!isOver() && fleet.steps < enough && Date.now() < patience) await sleep(5);
    };
    const tell = (what: string): void => onKill(`${kills - left} ${what}`);
    /** Starts it, lets it work, and sees it die; after the last kill it stays. */
    const killAgain = async (
      role: string,
      kept: string,
      start: (die: Readonly<Record<string, string>>) => Promise<ChildProcess>,
    ) => {
      while (left > 0) {
        left--;
        const { moment, nth, afterSteps } = plan.next(role);
        const die = moment === undefined ? {} : { BASA_DIE_AT: moment, BASA_DIE_NTH: String(nth) };
        const life = powerCuts?.life(join(basa.folder, kept));
        const child = await start({ ...die, ...life?.environment });
        if (role === 'server' && database !== undefined && left > 0 && chance.unit() < STOPPED_SHARE) {
          left--;
          await during(afterSteps, () => !isAlive(child));
          child.kill('SIGSTOP');
          const stopMs = Math.round(STOP_MS.least + (STOP_MS.most - STOP_MS.least) * chance.unit());
          await sleep(stopMs);
          child.kill('SIGCONT');
          tell(`${role}: stopped for ${stopMs} ms`);
        }
        await during(afterSteps, () => !isAlive(child));
        const diedItself = !isAlive(child);
        child.kill('SIGKILL');
        await gone(child);
        running.delete(child);
        if (child.signalCode !== 'SIGKILL')
          throw new Error(`the ${role} ended unexpectedly with code ${child.exitCode}`);
        if (diedItself && moment !== undefined) plan.died(role, moment);
        const lost = life === undefined ? '' : `, ${life.cut()} changes were not flushed`;
        tell(`${role}: ${diedItself && moment !== undefined ? moment : 'at a random moment'}${lost}`);
      }
      running.add(await start({}));
    };
    const preloads = [bundle.file('durable-moments')];
    const listenTo = (role: string, child: ChildProcess): ChildProcess => {
      running.add(child);
      if (child.stderr !== null)
        createInterface({ input: child.stderr }).on('line', (line) => {
          const [, moment] = /^moment: (.*)$/.exec(line) ?? [];
          if (moment !== undefined) plan.learn(role, moment);
        });
      return child;
    };
    const service = (name: ProcessName) => async (die: Readonly<Record<string, string>>) => {
      for (;;) {
        await gone(basa.children.get(name));
        const listening = basa.start(name, die, preloads);
        const child = listenTo(name === 'authority' ? name : 'server', basa.children.get(name) as ChildProcess);
        const isDown = (): boolean => database !== undefined && child.exitCode === NO_DATABASE;
        // A moment may come before it listens.
        await listening.catch((error: unknown) => {
          if (child.signalCode !== 'SIGKILL' && !isDown()) throw error;
        });
        if (!isDown()) return child;
        running.delete(child);
      }
    };
    const killAgainDatabase = async (crashed: CrashDatabase): Promise<void> => {
      while (left > 0) {
        left--;
        await during(DATABASE_STEPS * (1 + chance.unit()));
        await crashed.crash(1000 * chance.unit());
        tell('database: at a random moment');
      }
    };
    const devices = (n: number) => async (die: Readonly<Record<string, string>>) =>
      listenTo('devices', await fleet.start(n, die, preloads));

    for (const name of [...basa.servers, 'authority' as const]) await basa.stop(name);
    await Promise.all([
      killAgain('authority', 'authority', service('authority')),
      ...basa.servers.map((name) => killAgain('server', 'server', service(name))),
      ...Array.from({ length: DEVICE_PROCESSES }, (_, n) =>
        killAgain('devices', join('devices', String(n)), devices(n)),
      ),
      ...(database === undefined ? [] : [killAgainDatabase(database)]),
    ]);

    // The fleet continues after the last kill.
    await grown(basa, 1);
    for (const child of [...running].filter((one) => ![...basa.children.values()].includes(one))) {
      child.kill('SIGKILL');
      await gone(child);
    }
    await settle(basa, fleet.acknowledged, { clockAhead: bundle.file('clock-ahead'), database });
    const verdict = await judge(basa, fleet.acknowledged);
    const problems = [...verdict.problems, ...fleet.faults];
    return {
      kills: kills - left,
      ...verdict,
      problems,
      moments: plan.report(),
      ...(powerCuts && { powerCuts: powerCuts.counts }),
    };
  } finally {
    for (const child of running) child.kill('SIGKILL');
    await basa.close();
    rmSync(cutsFolder, { recursive: true, force: true });
  }
}

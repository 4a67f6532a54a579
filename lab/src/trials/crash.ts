/**
 * Runs server, authority and devices as processes under load, kills each repeatedly while it works, and then checks the result from
 * outside. With PostgreSQL the server has three nodes. They are also stopped for longer than their leases, and the database is killed too.
 * The run never waits for a fixed time, only for progress of the fleet.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomStream } from '@basa/learning';
import { SERVER_DATABASE } from '@basa/server/internal/store/schema.ts';
import { openPostgres } from '@basa/service';
import { type LocalPostgres, startLocalPostgres } from '@basa/testkit/processes/local-postgres.ts';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial, DEVICE_PROCESSES, oneShotLines } from './fleet.ts';
import { dying, Killing, roleOf } from './killing.ts';
import { PowerCuts } from './powercut.ts';
import { grown, isAlive, judge, settle, type Verdict } from './verdict.ts';

export interface CrashOptions {
  /** Deaths, and stops of nodes past their leases. */
  readonly kills: number;
  readonly seed: number;
  readonly store?: 'embedded' | 'postgres';
  /** The number of updates of a step (those of one batch). */
  readonly updates?: number;
  /** Each kill is a power cut: data that the process had not flushed is lost. Not with PostgreSQL. */
  readonly isPowerCut?: boolean;
  onLine?(line: string): void;
}

export interface CrashReport extends Verdict {
  readonly kills: number;
  /** The number of kills of each kind of process at each kind of durable moment. */
  readonly moments: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly powerCuts?: PowerCuts['counts'];
}

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
const PACE_OF_NODES = 3;
const DATABASE_STEPS = 60;

export async function runCrashes(options: CrashOptions): Promise<CrashReport> {
  const database = options.store === 'postgres' ? await CrashDatabase.open() : undefined;
  try {
    return await crash(options, database);
  } finally {
    await database?.close();
  }
}

async function crash(
  { kills, seed, updates, isPowerCut = false, onLine = () => {} }: CrashOptions,
  database: CrashDatabase | undefined,
): Promise<CrashReport> {
  const bundle = await bundleTrial({ watched: true });
  const chance = randomStream(seed, 'crash');
  const balancing = randomStream(seed, 'balancing');
  const cutting = randomStream(seed, 'power cuts');
  const nodes = database && { count: NODES, databaseUrl: database.url, random: () => balancing.unit() };
  const basa = await TestProcesses.open({
    bundle,
    policy: { dimension: Math.max(2048, kills * PLACES_PER_KILL), ...SIZES, ...oneShotLines(updates) },
    specification: { stallMs: STALL_MS, places: PLACES },
    ...(nodes && { nodes, server: { leaseMs: LEASE_MS } }),
  });
  const killing = await Killing.of(basa, bundle, chance, database && PACE_OF_NODES);
  const cutsFolder = `${basa.folder}-cuts`;
  try {
    const powerCuts = isPowerCut ? new PowerCuts(cutsFolder, () => cutting.unit()) : undefined;
    const { fleet, plan } = killing;
    let left = kills;
    const tell = (what: string): void => onLine(`${kills - left} ${what}`);

    /** Starts it, lets it work, and sees it die; after the last kill it stays. */
    const killAgain = async (
      role: string,
      kept: string,
      start: (die: Readonly<Record<string, string>>) => Promise<ChildProcess>,
    ) => {
      while (left > 0) {
        left--;
        const death = plan.next(role);
        const life = powerCuts?.life(join(basa.folder, kept));
        const child = await start({ ...dying(death), ...life?.environment });
        if (role === 'server' && database !== undefined && left > 0 && chance.unit() < STOPPED_SHARE) {
          left--;
          await killing.during(death.afterSteps, () => !isAlive(child));
          child.kill('SIGSTOP');
          const stopMs = Math.round(STOP_MS.least + (STOP_MS.most - STOP_MS.least) * chance.unit());
          await sleep(stopMs);
          child.kill('SIGCONT');
          tell(`${role}: stopped for ${stopMs} ms`);
        }
        const when = await killing.death(role, child, death);
        tell(`${role}: ${when}${life === undefined ? '' : `, ${life.cut()} changes were not flushed`}`);
      }
      await start({});
    };
    const killDatabase = async (crashed: CrashDatabase): Promise<void> => {
      while (left > 0) {
        left--;
        await killing.during(DATABASE_STEPS * (1 + chance.unit()));
        await crashed.crash(1000 * chance.unit());
        tell('database: at a random moment');
      }
    };

    const services = [...basa.servers, 'authority' as const];
    for (const name of services) await basa.stop(name);
    await Promise.all([
      ...services.map((name) => killAgain(roleOf(name), roleOf(name), (die) => killing.startService(name, die))),
      ...Array.from({ length: DEVICE_PROCESSES }, (_, n) =>
        killAgain('devices', join('devices', String(n)), (die) => killing.startDevices(n, die)),
      ),
      ...(database === undefined ? [] : [killDatabase(database)]),
    ]);

    // The fleet continues after the last kill.
    await grown(basa, 1);
    await killing.endDevices();
    await settle(basa, fleet.acknowledged, {
      clockAhead: bundle.file('clock-ahead'),
      goAhead: database && ((byMs) => database.goAhead(byMs)),
    });
    const verdict = await judge(basa, fleet.acknowledged);
    return {
      kills: kills - left,
      ...verdict,
      problems: [...verdict.problems, ...fleet.faults],
      moments: plan.report(),
      ...(powerCuts && { powerCuts: powerCuts.counts }),
    };
  } finally {
    await killing.close();
    rmSync(cutsFolder, { recursive: true, force: true });
  }
}

const RESTARTS = 20;

/** The PostgreSQL of a run: killed and started again, and in the end with its clock ahead. */
class CrashDatabase {
  readonly #folder: string;
  readonly #postgres: LocalPostgres;
  readonly url: string;

  private constructor(folder: string, postgres: LocalPostgres, url: string) {
    this.#folder = folder;
    this.#postgres = postgres;
    this.url = url;
  }

  static async open(): Promise<CrashDatabase> {
    const folder = mkdtempSync(join(tmpdir(), 'basa-crash-postgres-'));
    const postgres = await startLocalPostgres({ folder });
    return new CrashDatabase(folder, postgres, await postgres.database('basa'));
  }

  /** Dead for so long, then there again. */
  async crash(forMs: number): Promise<void> {
    await this.#postgres.stop('kill');
    await sleep(forMs);
    // The shared memory of the killed process may need a moment to go away.
    for (let tries = 1; ; tries++) {
      try {
        return await this.#postgres.restart();
      } catch (error) {
        if (tries === RESTARTS) throw error;
        await sleep(200);
      }
    }
  }

  /** Connections from now on see a clock that is ahead: a function of our own stands before the system's. */
  async goAhead(byMs: number): Promise<void> {
    const database = await openPostgres({ url: this.url, ...SERVER_DATABASE });
    const now = `SELECT pg_catalog.clock_timestamp() + interval '${byMs} milliseconds'`;
    await database.query('CREATE SCHEMA ahead');
    await database.query(
      `CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ ${now} $$`,
    );
    await database.query('ALTER DATABASE basa SET search_path = ahead, public, pg_catalog');
    await database.close();
  }

  async close(): Promise<void> {
    await this.#postgres.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

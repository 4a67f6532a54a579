/** Both services with devices at work, as every drill has them: from the first version to the verdict from outside. */
import type { ChildProcess } from 'node:child_process';
import { randomStream } from '@basa/learning';
import type { TaskPolicy } from '@basa/protocol';
import type { Exchange } from '@basa/testkit/processes/balancer.ts';
import { type ProcessName, TestProcesses, type TestProcessesOptions } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial, type TrialBundle } from '../trials/bundle.ts';
import { CrashDatabase } from '../trials/crash/crash-database.ts';
import type { Retired } from '../trials/crash/ending.ts';
import { Fleet } from '../trials/crash/fleet.ts';
import { gone, grown, settle } from '../trials/crash/settle.ts';
import { judge, type Verdict } from '../trials/crash/verdict.ts';
import { engineLines, type TrialEngine } from '../trials/engines.ts';

export interface DrillOptions extends Pick<TestProcessesOptions, 'server' | 'authority' | 'authorities'> {
  readonly seed: number;
  readonly engine: TrialEngine;
  /** Further lines of the policy. */
  readonly policy?: Partial<TaskPolicy>;
  /** The number of server nodes that share one PostgreSQL. By default there is one server with its own folder. */
  readonly nodes?: number;
  onExchange?(exchange: Exchange): void;
  onLine(line: string): void;
}

const DEVICE_PROCESSES = 2;
const DEVICES_EACH = 4;
/** More coordinates than a drill has updates. */
const DIMENSION = 8192;
const STALL_MS = 1000;

export class Drill {
  readonly bundle: TrialBundle;
  readonly basa: TestProcesses;
  /** The devices whose updates the verdict is about. */
  fleet: Fleet;
  readonly #seed: number;
  readonly #database: CrashDatabase | undefined;
  readonly #devices: ChildProcess[] = [];
  readonly #onLine: (line: string) => void;
  /** The authorities of an earlier term, whose logs have what their successors do not know. */
  #retired: Retired | undefined;

  private constructor(
    {
      bundle,
      basa,
      fleet,
      database,
    }: Pick<Drill, 'bundle' | 'basa' | 'fleet'> & { database: CrashDatabase | undefined },
    { seed, onLine }: DrillOptions,
  ) {
    this.#seed = seed;
    this.bundle = bundle;
    this.basa = basa;
    this.fleet = fleet;
    this.#database = database;
    this.#onLine = onLine;
  }

  /** Starts devices, waits for a version, does `work` while the devices continue, and returns the verdict. */
  static async run<Result>(options: DrillOptions, work: (drill: Drill) => Promise<Result>): Promise<Result & Verdict> {
    const database = options.nodes === undefined ? undefined : await CrashDatabase.open();
    try {
      const drill = await Drill.#open(options, database);
      try {
        await drill.startDevices();
        await drill.versions(1);
        const result = await work(drill);
        return { ...result, ...(await drill.#verdict()) };
      } finally {
        for (const child of drill.#devices) child.kill('SIGKILL');
        await drill.basa.close();
      }
    } finally {
      await database?.close();
    }
  }

  static async #open(options: DrillOptions, database: CrashDatabase | undefined): Promise<Drill> {
    const { seed, engine, nodes: count = 1, server, authority, authorities = 1, policy, onExchange } = options;
    const chance = randomStream(seed, 'drill');
    const nodes = database && {
      count,
      databaseUrl: database.url,
      random: () => chance.unit(),
      ...(onExchange && { onExchange }),
    };
    const bundle = await bundleTrial();
    const basa = await TestProcesses.open({
      bundle,
      policy: { dimension: DIMENSION, ...engineLines(engine, authorities), ...policy },
      authorities,
      specification: { stallMs: STALL_MS },
      ...(server && { server }),
      ...(authority && { authority }),
      ...(nodes && { nodes }),
    });
    const fleet = await enrolled({ basa, bundle, seed, folder: 'devices' });
    return new Drill({ bundle, basa, fleet, database }, options);
  }

  /** Replaces the devices with devices in new folders. */
  async newDevices(folder: string): Promise<void> {
    this.fleet = await enrolled({ basa: this.basa, bundle: this.bundle, seed: this.#seed, folder });
  }

  /** Of the PostgreSQL of its nodes. */
  get databaseUrl(): string {
    return this.#database?.url ?? '';
  }

  /** Stopped in order, and started with what holds now. */
  async restart(name: ProcessName): Promise<void> {
    await this.basa.stop(name);
    await this.basa.start(name);
  }

  async startDevices(): Promise<void> {
    for (let n = 0; n < DEVICE_PROCESSES; n++) this.#devices.push(await this.fleet.start(n, {}, []));
  }

  /** Kills the processes without a clean stop. */
  async stopDevices(): Promise<void> {
    for (const child of this.#devices.splice(0)) {
      child.kill('SIGKILL');
      await gone(child);
    }
  }

  /** Waits until the devices have made this number of further versions. */
  async versions(count: number): Promise<void> {
    await grown(this.basa, count);
  }

  /** Another authority has a seat from now on. */
  retire(retired: Retired): void {
    this.#retired = retired;
  }

  say(line: string): void {
    this.#onLine(line);
  }

  /** Kills the processes, or stops them cleanly. */
  async stopServices(how: 'kill' | 'stop'): Promise<void> {
    for (const name of [...this.basa.servers, ...this.basa.authorities]) {
      if (how === 'kill') this.basa.children.get(name)?.kill('SIGKILL');
      await this.basa.stop(name);
    }
  }

  async #verdict(): Promise<Verdict> {
    await this.stopDevices();
    this.say(`${this.fleet.acknowledged.length} updates were acknowledged; waiting for their ends`);
    const { acknowledged, faults } = this.fleet;
    await settle(this.basa, acknowledged, { clockAhead: this.bundle.file('clock-ahead'), database: this.#database });
    const { problems, ...verdict } = await judge(this.basa, acknowledged, this.#retired);
    return { ...verdict, problems: [...problems, ...faults] };
  }
}

/** The counts of a drill that is run twice, in different worlds. */
export type BothVerdicts = Pick<
  Verdict,
  'acknowledged' | 'included' | 'unknown' | 'lost' | 'doubled' | 'stuck' | 'problems'
>;

export function bothVerdicts(first: BothVerdicts, second: BothVerdicts): BothVerdicts {
  return {
    acknowledged: first.acknowledged + second.acknowledged,
    included: first.included + second.included,
    unknown: first.unknown + second.unknown,
    lost: first.lost + second.lost,
    doubled: first.doubled + second.doubled,
    stuck: first.stuck + second.stuck,
    problems: [...first.problems, ...second.problems],
  };
}

interface Enrolling extends Pick<Drill, 'basa' | 'bundle'> {
  readonly seed: number;
  readonly folder: string;
}

function enrolled({ basa, bundle, seed, folder }: Enrolling): Promise<Fleet> {
  const script = bundle.file('devices');
  const chance = randomStream(seed, folder);
  return Fleet.enrolled({ basa, script, processes: DEVICE_PROCESSES, devicesEach: DEVICES_EACH, chance, folder });
}

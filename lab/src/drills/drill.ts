/** Both services with devices at work, as every drill has them: from the first version to the verdict from outside. */
import type { ChildProcess } from 'node:child_process';
import { type ProcessName, TestProcesses, type TestProcessesOptions } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial, type TrialBundle } from '../trials/bundle.ts';
import { Fleet } from '../trials/crash/fleet.ts';
import { gone, grown, settle } from '../trials/crash/settle.ts';
import { judge, type Verdict } from '../trials/crash/verdict.ts';
import { oneShotLines } from '../trials/one-shot.ts';

export interface DrillOptions extends Pick<TestProcessesOptions, 'server' | 'authority'> {
  readonly seed: number;
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
  readonly #devices: ChildProcess[] = [];
  readonly #onLine: (line: string) => void;

  private constructor(
    { bundle, basa, fleet }: Pick<Drill, 'bundle' | 'basa' | 'fleet'>,
    { seed, onLine }: DrillOptions,
  ) {
    this.#seed = seed;
    this.bundle = bundle;
    this.basa = basa;
    this.fleet = fleet;
    this.#onLine = onLine;
  }

  /** Starts devices, waits for a version, does `work` while the devices continue, and returns the verdict. */
  static async run<Result>(options: DrillOptions, work: (drill: Drill) => Promise<Result>): Promise<Result & Verdict> {
    const drill = await Drill.#open(options);
    try {
      await drill.startDevices();
      await drill.versions(1);
      const result = await work(drill);
      return { ...result, ...(await drill.#verdict()) };
    } finally {
      for (const child of drill.#devices) child.kill('SIGKILL');
      await drill.basa.close();
    }
  }

  static async #open(options: DrillOptions): Promise<Drill> {
    const { seed, server, authority } = options;
    const bundle = await bundleTrial();
    const basa = await TestProcesses.open({
      bundle,
      policy: { dimension: DIMENSION, ...oneShotLines() },
      specification: { stallMs: STALL_MS },
      ...(server && { server }),
      ...(authority && { authority }),
    });
    const fleet = await enrolled({ basa, bundle, seed, folder: 'devices' });
    return new Drill({ bundle, basa, fleet }, options);
  }

  /** Replaces the devices with devices in new folders. */
  async newDevices(folder: string): Promise<void> {
    this.fleet = await enrolled({ basa: this.basa, bundle: this.bundle, seed: this.#seed, folder });
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
    await settle(this.basa, acknowledged, { clockAhead: this.bundle.file('clock-ahead') });
    const { problems, ...verdict } = await judge(this.basa, acknowledged);
    return { ...verdict, problems: [...problems, ...faults] };
  }
}

/** The counts of a drill that is run twice, in different worlds. */
export type BothVerdicts = Pick<Verdict, 'acknowledged' | 'included' | 'lost' | 'doubled' | 'stuck' | 'problems'>;

export function bothVerdicts(first: BothVerdicts, second: BothVerdicts): BothVerdicts {
  return {
    acknowledged: first.acknowledged + second.acknowledged,
    included: first.included + second.included,
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

function enrolled({ basa, bundle, folder }: Enrolling): Promise<Fleet> {
  const script = bundle.file('devices');
  return Fleet.enrolled({ basa, script, processes: DEVICE_PROCESSES, devicesEach: DEVICES_EACH, folder });
}

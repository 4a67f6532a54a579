/** Both services with devices at work, as every drill has them: from the first version to the verdict from outside. */
import type { ChildProcess } from 'node:child_process';
import { type ProcessName, TestProcesses, type TestProcessesOptions } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial, DEVICE_PROCESSES, Fleet, oneShotLines, type TrialBundle } from '../trials/fleet.ts';
import { gone, grown, judge, settle, type Verdict } from '../trials/verdict.ts';

/** More coordinates than a drill has updates. */
const DIMENSION = 8192;
const STALL_MS = 1000;

export class Drill {
  readonly basa: TestProcesses;
  readonly say: (line: string) => void;
  /** The devices whose updates the verdict is about. */
  fleet: Fleet;
  readonly #bundle: TrialBundle;
  readonly #devices: ChildProcess[] = [];

  private constructor(bundle: TrialBundle, basa: TestProcesses, fleet: Fleet, say: (line: string) => void) {
    this.#bundle = bundle;
    this.basa = basa;
    this.fleet = fleet;
    this.say = say;
  }

  /** Starts devices, waits for a version, does `work` while the devices continue, and returns the verdict. */
  static async run<Result>(
    say: (line: string) => void,
    work: (drill: Drill) => Promise<Result>,
    settings: Pick<TestProcessesOptions, 'server' | 'authority'> = {},
  ): Promise<Result & Verdict> {
    const bundle = await bundleTrial();
    const policy = { dimension: DIMENSION, ...oneShotLines() };
    const basa = await TestProcesses.open({ bundle, policy, specification: { stallMs: STALL_MS }, ...settings });
    const drill = new Drill(bundle, basa, await Fleet.enrolled(basa, bundle), say);
    try {
      await drill.startDevices();
      await drill.versions(1);
      const result = await work(drill);
      return { ...result, ...(await drill.#verdict()) };
    } finally {
      for (const child of drill.#devices) child.kill('SIGKILL');
      await basa.close();
    }
  }

  /** Replaces the devices with devices in new folders. */
  async newDevices(folder: string): Promise<void> {
    this.fleet = await Fleet.enrolled(this.basa, this.#bundle, folder);
  }

  /** Stopped in order, and started with what holds now. */
  async restart(name: ProcessName): Promise<void> {
    await this.basa.stop(name);
    await this.basa.start(name);
  }

  async startDevices(): Promise<void> {
    for (let n = 0; n < DEVICE_PROCESSES; n++) this.#devices.push(await this.fleet.start(n));
  }

  /** Kills the processes without a clean stop. */
  async stopDevices(): Promise<void> {
    for (const child of this.#devices.splice(0)) {
      child.kill('SIGKILL');
      await gone(child);
    }
  }

  /** Waits until the devices have made this number of further versions. */
  versions(count: number): Promise<void> {
    return grown(this.basa, count);
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
    const { acknowledged, faults } = this.fleet;
    this.say(`${acknowledged.length} updates were acknowledged; waiting for their ends`);
    await settle(this.basa, acknowledged, { clockAhead: this.#bundle.file('clock-ahead') });
    const { problems, ...verdict } = await judge(this.basa, acknowledged);
    return { ...verdict, problems: [...problems, ...faults] };
  }
}

/** The devices as processes, the coordinates that they offer, and the answers that they got. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { DevicesWork, FromDevices, ToDevices } from './messages.ts';

export interface Acknowledged {
  readonly place: number;
  readonly ctx: string;
  readonly joinTag: string;
}

export interface FleetOptions {
  readonly basa: TestProcesses;
  /** The bundled `devices.ts`. */
  readonly script: string;
  readonly processes: number;
  readonly devicesEach: number;
  /** Of the devices, inside the folder of the processes (`devices`). */
  readonly folder?: string;
}

export class Fleet {
  readonly acknowledged: Acknowledged[] = [];
  readonly faults: string[] = [];
  /** Steps that devices took, for callers that wait for progress. */
  steps = 0;
  /** Devices that were told to come back later, each with the last message. The caller clears this list. */
  readonly putOff = new Map<number, string>();
  readonly #options: FleetOptions;
  readonly #works: DevicesWork[];
  readonly #places = new Map<number, number>();
  #nextPlace = 0;

  private constructor(options: FleetOptions, works: DevicesWork[]) {
    this.#options = options;
    this.#works = works;
  }

  static async enrolled(options: FleetOptions): Promise<Fleet> {
    const { basa, processes, devicesEach, folder: devices = 'devices' } = options;
    const tokens = await basa.authority.tokens(basa.task, processes * devicesEach, Date.now() + 86_400_000);
    const works = Array.from({ length: processes }, (_, n) => ({
      ...basa.services,
      dimension: basa.policy.dimension,
      devices: tokens.slice(n * devicesEach, (n + 1) * devicesEach).map((token, i) => {
        const number = n * devicesEach + i;
        return { number, token, folder: join(basa.folder, devices, String(n), String(number)) };
      }),
    }));
    return new Fleet(options, works);
  }

  /** Starts the process with these devices; resolves when it runs. */
  async start(n: number, environment: Readonly<Record<string, string>>, preloads: readonly string[]) {
    const child = fork(this.#options.script, [], {
      env: { ...process.env, ...environment },
      execArgv: preloads.flatMap((path) => ['--import', path]),
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    const send = (message: ToDevices): void => void child.send(message, () => {}); // it may be dead already
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.on('message', (news: FromDevices) => {
        if (news.kind === 'ready') resolve();
        else this.#hear(news, send);
      });
    });
    // The current addresses of the services.
    send({ kind: 'work', work: { ...(this.#works[n] as DevicesWork), ...this.#options.basa.services } });
    return child;
  }

  #hear(news: Exclude<FromDevices, { kind: 'ready' }>, send: (message: ToDevices) => void): void {
    if (news.kind === 'put-off') return void this.putOff.set(news.device, news.what);
    this.steps++;
    if (news.kind === 'rejected' && news.reason === 'authority-unreachable') this.putOff.set(news.device, news.reason);
    if (news.kind === 'fault') this.faults.push(`device ${news.device}: ${news.what}`);
    if (news.kind === 'idle') {
      // It may have been acknowledged before its process was killed.
      if (news.isUnknown) this.#places.delete(news.device);
      send({ kind: 'offer', device: news.device, place: this.#placeOf(news.device) });
    }
    if (news.kind === 'acknowledged') {
      const { place, ctx, joinTag } = news;
      this.acknowledged.push({ place, ctx, joinTag });
      this.#places.delete(news.device);
    }
    // Free: the device offers the coordinate until it is given. Given: a batch may have it, so the device takes the next one.
    if (news.kind === 'rejected' && news.update === 'given') this.#places.delete(news.device);
  }

  /** The coordinate of the update that the device has, or the next one. */
  #placeOf(device: number): number {
    const place = this.#places.get(device) ?? this.#nextPlace++;
    if (place >= this.#options.basa.policy.dimension) throw new Error('the model has too few coordinates for this run');
    this.#places.set(device, place);
    return place;
  }
}

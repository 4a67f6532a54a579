/** The devices of a trial as processes (`programs/devices.ts`), the coordinates that they offer, and the answers that they got. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENGINE, ONE_SHOT_DEFAULTS, type TaskPolicy } from '@basa/protocol/policy';
import { type Bundle, bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import type { DeviceServices, TestProcesses } from '@basa/testkit/processes/test-processes.ts';

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** Devices, and modules that watch or measure a process from inside; the last two are of the bench of the server. */
const PROGRAMS = {
  devices: pathOf('programs/devices.ts'),
  senders: pathOf('programs/senders.ts'),
  'durable-moments': pathOf('programs/durable-moments.ts'),
  'clock-ahead': pathOf('programs/clock-ahead.ts'),
  discard: pathOf('../bench/server/discard.ts'),
  'load-process': pathOf('../bench/server/load-process.ts'),
} as const;
const WATCHERS = { sqlite: pathOf('programs/watched-sqlite.ts'), postgres: pathOf('programs/watched-postgres.ts') };

export type TrialBundle = Bundle<keyof typeof PROGRAMS>;

/** Both services with these programs. If it is watched, commits are durable moments as well. */
export function bundleTrial({ watched = false }: { readonly watched?: boolean } = {}): Promise<TrialBundle> {
  return bundleProcesses({ more: PROGRAMS, ...(watched && { watchers: WATCHERS }) });
}

/** Epochs roll and end during a run, and a standing is soon too old to be handed out. */
const ALONE = { tolerated: 0, epochMs: 20_000, freshMs: 10_000 };
/** One may collude with the server. A batch outlives the time for which too few of them are there. */
const SEVERAL = { tolerated: 1, epochMs: 60_000, freshMs: 10_000 };

/** The lines of a policy with which trials run the one-shot mode: a step takes this number of updates (those of one batch). */
export function oneShotLines(stepUpdates = 1, authorities = 1): Pick<TaskPolicy, 'engine' | 'oneShot'> {
  const oneShot = { ...ONE_SHOT_DEFAULTS, ...(authorities === 1 ? ALONE : SEVERAL), stepUpdates };
  return { engine: ENGINE.oneShot, oneShot };
}

export const DEVICE_PROCESSES = 2;
export const DEVICES_EACH = 4;

/** The work of a process of devices. */
export interface DevicesWork extends DeviceServices {
  readonly dimension: number;
  readonly devices: readonly { readonly number: number; readonly folder: string; readonly token: string }[];
}

/** To the devices: the work, then which coordinate a device offers next. */
export type ToDevices =
  | { readonly kind: 'work'; readonly work: DevicesWork }
  | { readonly kind: 'offer'; readonly device: number; readonly place: number };

export interface Acknowledged {
  readonly place: number;
  readonly ctx: string;
  readonly joinTag: string;
}

export type FromDevices =
  | { readonly kind: 'ready' }
  | { readonly kind: 'step'; readonly device: number; readonly step: string }
  /** The device has nothing to do. After a start, what became of its coordinate is known only if its session goes on. */
  | { readonly kind: 'idle'; readonly device: number; readonly isUnknown: boolean }
  | ({ readonly kind: 'acknowledged'; readonly device: number } & Acknowledged)
  | { readonly kind: 'rejected'; readonly device: number; readonly reason: string; readonly update: 'free' | 'given' }
  /** A service does not answer, or asks to come again later: in its words. */
  | { readonly kind: 'put-off'; readonly device: number; readonly what: string }
  /** Something that no crash explains. */
  | { readonly kind: 'fault'; readonly device: number; readonly what: string };

export class Fleet {
  readonly acknowledged: Acknowledged[] = [];
  readonly faults: string[] = [];
  /** Steps that devices took, for callers that wait for progress. */
  steps = 0;
  /** Devices that were told to come back later, each with the last message. The caller clears this list. */
  readonly putOff = new Map<number, string>();
  readonly #basa: TestProcesses;
  readonly #script: string;
  readonly #works: DevicesWork[];
  readonly #places = new Map<number, number>();
  #nextPlace = 0;

  private constructor(basa: TestProcesses, script: string, works: DevicesWork[]) {
    this.#basa = basa;
    this.#script = script;
    this.#works = works;
  }

  /** Devices for two processes, with their folders inside the folder of the services. */
  static async enrolled(basa: TestProcesses, bundle: TrialBundle, folder = 'devices'): Promise<Fleet> {
    const tokens = await basa.authority.tokens(basa.task, DEVICE_PROCESSES * DEVICES_EACH, Date.now() + 86_400_000);
    const works = Array.from({ length: DEVICE_PROCESSES }, (_, n) => ({
      ...basa.services,
      dimension: basa.policy.dimension,
      devices: tokens.slice(n * DEVICES_EACH, (n + 1) * DEVICES_EACH).map((token, i) => {
        const number = n * DEVICES_EACH + i;
        return { number, token, folder: join(basa.folder, folder, String(n), String(number)) };
      }),
    }));
    return new Fleet(basa, bundle.file('devices'), works);
  }

  /** Starts the process with these devices; resolves when it runs. */
  async start(
    n: number,
    environment: Readonly<Record<string, string>> = {},
    preloads: readonly string[] = [],
  ): Promise<ChildProcess> {
    const child = fork(this.#script, [], {
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
    send({ kind: 'work', work: { ...(this.#works[n] as DevicesWork), ...this.#basa.services } });
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
    if (place >= this.#basa.policy.dimension) throw new Error('the model has too few coordinates for this run');
    this.#places.set(device, place);
    return place;
  }
}

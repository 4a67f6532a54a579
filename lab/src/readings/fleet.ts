/** A federation of the real services with a task of the adversary, and devices of the real SDK that train on their own data. */

import { makePolicy } from '@basa/client/internal/operator/policy.ts';
import { type BasaClient, type Outside, trainerFor } from '@basa/client/node';
import type { PolicyChoice } from '@basa/client/operator';
import { type Model, modelJson, type Samples, type Trainer } from '@basa/learning';
import { toHex } from '@basa/masking';
import { type DeviceOptions, World, type WorldOptions } from '@basa/testkit/world/world.ts';
import { type Level, noiseAt, type Reading } from './reading.ts';

export interface AttackTask extends Pick<PolicyChoice, 'bufferSize' | 'metrics'> {
  readonly model: Model;
  /** The numbers of the model, which are the adversary's. */
  readonly initial: Float32Array;
  /** Of the noise. */
  readonly level: Level;
  /** Examples of a device, which it takes in one step. */
  readonly examples: number;
  readonly learningRate: number;
  readonly clip: number;
  /** Softmax cross-entropy unless said otherwise. */
  readonly loss?: 'softmaxCrossEntropy' | 'binaryCrossEntropy';
}

/** A request of a device as the server sees it. */
export interface Heard {
  /** Without the names in it. */
  readonly line: string;
  /** Processor time of the device since the request before. */
  readonly afterMs: number;
}

export class Fleet {
  readonly world: World;
  #task!: AttackTask;
  #trainer!: Trainer;

  private constructor(world: World) {
    this.world = world;
  }

  /** Plays in a world of its own. */
  static async run(play: (fleet: Fleet) => Promise<Reading>, options: WorldOptions = {}): Promise<Reading> {
    const fleet = new Fleet(await World.open(options));
    try {
      return await play(fleet);
    } finally {
      await fleet.world.close();
    }
  }

  /** Whoever operates the task chooses all of this; the rest is what `basa task create` takes without a flag. */
  async create(task: AttackTask): Promise<{ readonly trainer: Trainer; readonly noise: number | undefined }> {
    const { model, initial, level, examples, learningRate, clip, bufferSize, metrics = [] } = task;
    const { loss = 'softmaxCrossEntropy' } = task;
    const { server, authorities } = this.world;
    const noise = noiseAt(level, { bufferSize, dimension: model.dimension });
    const policy = await makePolicy({
      name: `${model.name} ${toHex(crypto.getRandomValues(new Uint8Array(8)))}`,
      model,
      serverKey: server.publicKey,
      authorities: authorities.map(({ publicKey }) => publicKey),
      bufferSize,
      clip,
      metrics,
      training: { epochs: 1, batchSize: examples, learningRate, loss },
      uploadLeaseMs: 600_000,
      ...(noise === undefined ? { noNoise: true } : { privacy: { noiseMultiplier: noise } }),
    });
    const parameters = toHex(new Uint8Array(initial.slice().buffer));
    await this.world.createTask(policy, { model: modelJson(model), initial: { parameters } });
    this.#task = task;
    this.#trainer = await trainerFor(model, { loss });
    return { trainer: this.#trainer, noise };
  }

  /** The device trains once, and uploads. */
  async give(device: BasaClient, samples: Samples, trainer: Trainer = this.#trainer): Promise<void> {
    await device.run(trainer, samples, { rounds: 1 });
    await device.close();
  }

  /** A new device for each share; what the server hears of each from its place to the end. */
  async heard(shares: readonly Samples[]): Promise<readonly (readonly Heard[])[]> {
    let all: Heard[] = [];
    let from = process.cpuUsage();
    const { send, close } = this.world.wire.transport;
    const transport: Outside['transport'] = {
      async send(request) {
        const { method, url, body } = request;
        const { user, system } = process.cpuUsage(from);
        const line = `${method} ${url.replace(/[0-9a-f]{32,}/g, '#')} ${body?.length ?? 0}`;
        all.push({ line, afterMs: (user + system) / 1000 });
        const answer = await send(request);
        from = process.cpuUsage();
        return answer;
      },
      close,
    };
    const told: (readonly Heard[])[] = [];
    for (const [n, device] of (await this.devices(shares.length, { transport })).entries()) {
      all = [];
      await this.give(device, shares[n] as Samples);
      told.push(all);
    }
    return told;
  }

  /** A device of the adversary. */
  async giveZeros(device: BasaClient, metrics: readonly string[] = []): Promise<void> {
    const { version, parameters } = await device.model();
    const values = Object.fromEntries(metrics.map((name) => [name, 0]));
    await device.contribute(new Float32Array(parameters.length), { trainedOn: version, metrics: values });
    await device.close();
  }

  /** What the server has: the sum of all updates of the first version. */
  async sum(): Promise<Float32Array> {
    const { parameters } = await this.world.reached(1);
    const { initial, bufferSize } = this.#task;
    return initial.map((value, n) => bufferSize * (value - (parameters[n] as number)));
  }

  /** New devices with places. They ask twice: a private task gives places when enough devices have asked. */
  devices(count: number, outside: Partial<Outside> = {}): Promise<readonly BasaClient[]> {
    return this.#placed(Array.from({ length: count }, () => ({ outside })));
  }

  /** The same for devices that the authorities let in already. */
  devicesOf(stores: readonly DeviceOptions['store'][]): Promise<readonly BasaClient[]> {
    return this.#placed(stores.map((store) => ({ ...(store && { store }), isAllowed: false })));
  }

  async #placed(all: readonly DeviceOptions[]): Promise<readonly BasaClient[]> {
    const devices: BasaClient[] = [];
    for (const one of all) devices.push(await this.world.device(one));
    for (const device of [...devices, ...devices]) await device.admission();
    return devices;
  }

  /** A new device for each share; all fill one batch. */
  async sumOf(shares: readonly Samples[]): Promise<Float32Array> {
    const devices = await this.devices(shares.length);
    for (const [n, share] of shares.entries()) await this.give(devices[n] as BasaClient, share);
    return this.sum();
  }
}

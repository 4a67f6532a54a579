/** A device of the oracle: the SDK with its store, of which the oracle reads the masks. */
import type { BasaClient, Outside } from '@basa/client/node';
import { applyMasksInPlace, type MaskPlan, Secret } from '@basa/masking';
import type { RefusalReason, UserId } from '@basa/protocol';
import { userIdOf } from '@basa/protocol/internal/wire/devices.ts';
import type { Certificate } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { nodeTools } from '@basa/simulator/virtual-time';
import { type DeviceOptions, deviceStore, type World } from '@basa/testkit/world/world.ts';

const { masks: tools } = nodeTools();

export class OracleDevice {
  readonly #world: World;
  readonly isColluder: boolean;
  readonly number: number;
  readonly store: NonNullable<DeviceOptions['store']> = deviceStore();
  /** As it was in its last upload. */
  certificate: Certificate | undefined;
  /** The models on which it gave. */
  readonly given = new Set<string>();
  /** Changes what it masks: a device that lies about its update. */
  change: (input: Uint32Array) => void = () => {};
  #client!: BasaClient;
  #plan: MaskPlan | undefined;
  #updates = 0;

  private constructor(world: World, isColluder: boolean, number: number) {
    this.#world = world;
    this.isColluder = isColluder;
    this.number = number;
  }

  /** A device that no authority has enrolled, with a certificate of the adversary. */
  static invented(world: World): OracleDevice {
    return new OracleDevice(world, true, 0);
  }

  static async enrolled(world: World, isColluder: boolean, number: number): Promise<OracleDevice> {
    const device = new OracleDevice(world, isColluder, number);
    await device.restart();
    return device;
  }

  /** Its process ends, and starts again with its store. */
  async restart(): Promise<void> {
    const mask: Outside['mask'] = (vector, plan) => {
      const terms = plan.terms.map((term) => ({ ...term, seed: new Secret(term.seed.reveal().slice()) }));
      this.#plan = { ...plan, terms };
      this.change(vector);
      applyMasksInPlace(vector, plan, tools);
    };
    this.#client = await this.#world.device({ store: this.store, outside: { mask } });
  }

  get user(): UserId {
    return userIdOf(nodeSuite, this.store.signer.publicKey);
  }

  nextName(): string {
    const updates = ++this.#updates;
    return `x of U${this.number}${updates > 1 ? `, update ${updates}` : ''}`;
  }

  lastPlan(): MaskPlan {
    if (this.#plan === undefined) throw new Error('the device has masked nothing');
    return this.#plan;
  }

  /** Trains on the newest model that it is shown, and gives. Returns the reason if it does not. */
  async give(): Promise<RefusalReason | undefined> {
    try {
      const { version, parameters } = await this.#client.model();
      const delta = Float32Array.from(parameters, (_, n) => (n === this.number % parameters.length ? 1 : 0));
      const given = await this.#client.contribute(delta, { trainedOn: version });
      return given.kind === 'accepted' ? undefined : (given.reason as RefusalReason);
    } catch (error) {
      const { code } = error as { readonly code?: RefusalReason };
      if (code === undefined) throw error;
      return code;
    }
  }
}

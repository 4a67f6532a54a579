/** A device of a one-shot task in memory: the real cores, with the records it keeps. */
import { applyMasksInPlace, type KeyWork, keysAtOnce, type Signer } from '@basa/masking';
import {
  type AuthorityStanding,
  buildInput,
  type Certificate,
  type ContributeAnswer,
  type ContributeEnd,
  type ContributeRequest,
  type Device,
  type DeviceRecord,
  type DeviceStep,
  deviceRecordCodec,
  type Gathered,
  isRefused,
  type Refused,
  receiveStandings,
  restoreDevice,
  type ShotStart,
  shotSteps,
  sumRules,
  type UserId,
  userIdOf,
} from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { DeviceStage, WholeStage } from './shot-stage.ts';

/** The point at which a device stops, as if it had crashed there. */
export type ShotStop = 'before-freeze' | 'after-freeze' | 'after-upload';

export class ShotDevice<Stage extends DeviceStage = WholeStage> {
  readonly world: Stage;
  readonly index: number;
  readonly signer: Signer;
  readonly certificate: Certificate;
  records: DeviceRecord[] = [];
  deltaId: Uint8Array;
  /** x', kept since it was fixed. */
  input: Uint32Array | undefined;

  constructor(world: Stage, index: number, signer: Signer, certificate: Certificate) {
    this.world = world;
    this.index = index;
    this.signer = signer;
    this.certificate = certificate;
    this.deltaId = world.randomBytes(16);
  }

  /** The state that its records give, read back from their bytes. */
  get device(): Device {
    const { suite } = this.world.environment.tools;
    return restoreDevice(
      suite,
      this.records.map((entry) => deviceRecordCodec.decode(deviceRecordCodec.encode(entry))),
    );
  }

  get user(): UserId {
    return userIdOf(this.world.environment.tools.suite, this.signer.publicKey);
  }

  /** Records are durable before the answer counts. */
  persist<Answer>({ records, answer }: DeviceStep<Answer>): Answer | Refused {
    this.records.push(...records);
    return answer;
  }

  gather(standings: readonly AuthorityStanding[] = this.world.standings()): Gathered | Refused {
    const { policy, task, now, environment } = this.world;
    const question = { suite: environment.tools.suite, policy, task, now, isPast: () => false };
    return this.persist(receiveStandings(question, this.device, standings));
  }

  /** Builds x' with a one at the device's own place, so that sums show their members. */
  fixInput({ entry }: Gathered): Uint32Array {
    const { policy, environment } = this.world;
    const delta = new Float32Array(policy.dimension);
    delta[this.index] = 1;
    const randomWords = environment.randomWords(this.index);
    const update = { delta, trainedOn: entry.version, randomWords };
    const built = granted(buildInput(sumRules(policy, entry.version), update));
    this.input = built.vector;
    return built.vector;
  }

  start(gathered: Gathered): ShotStart {
    const { policy } = this.world;
    this.fixInput(gathered);
    const { entry, epochs } = gathered;
    return { policy, certificate: this.certificate, entry, epochs, deltaId: this.deltaId };
  }

  /** The whole course of an update, or the rest of it after a stop. */
  contribute(stop?: ShotStop): ContributeEnd | Refused | { readonly kind: 'stopped' } {
    if (this.device.session?.step === 'shot') return this.drive(undefined, stop);
    const gathered = this.gather();
    return isRefused(gathered) ? gathered : this.drive(this.start(gathered), stop);
  }

  drive(given: ShotStart | undefined, stop?: ShotStop): ContributeEnd | { readonly kind: 'stopped' } {
    const { tools } = this.world.environment;
    const ports = { suite: tools.suite, kernel: tools.kernel, randomBytes: this.world.randomBytes };
    const steps = shotSteps(ports, this.device, given);
    let next = steps.next();
    while (next.done !== true) {
      const asked = next.value;
      if (stop === 'before-freeze' && asked.kind === 'durable') return { kind: 'stopped' };
      const answer = this.#answer(asked);
      if (stop === 'after-freeze' && asked.kind === 'durable') return { kind: 'stopped' };
      if (stop === 'after-upload' && asked.kind === 'shot') return { kind: 'stopped' };
      next = steps.next(answer);
    }
    return next.value;
  }

  #answer(asked: ContributeRequest): ContributeAnswer {
    const { environment, server } = this.world;
    switch (asked.kind) {
      case 'keys':
        return keysAtOnce(environment.tools.suite, passed(asked.work));
      case 'input':
        return this.input as Uint32Array;
      case 'mask':
        applyMasksInPlace(asked.masking.vector, asked.masking.plan, environment.tools);
        return undefined;
      case 'sign':
        return this.signer.sign(asked.statement);
      case 'durable':
        this.persist(asked.step);
        return undefined;
      case 'shot':
        return server.take(asked.upload, asked.body);
      default:
        throw new Error(`a one-shot update does not ask for ${asked.kind}`);
    }
  }
}

/** One batch of work as steps of its own. */
function* passed(work: readonly KeyWork[]): Parameters<typeof keysAtOnce<ContributeAnswer>>[1] {
  return yield work;
}

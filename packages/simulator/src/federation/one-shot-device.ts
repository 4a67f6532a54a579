/** A device of a one-shot federation: it takes the newest model and the epochs of the authorities, masks once and sends one message. */
import { type KeyResult, type KeySteps, type KeyWork, keysAtOnce, type Suite } from '@basa/masking';
import { isRefused, type Millis, millis, type Refused, refused } from '@basa/protocol';
import { type BuiltInput, DeviceRole, type Ledger } from '@basa/protocol/one-shot';
import { InputWords, ShotUpload, ShownModel } from '@basa/protocol/wire';
import { Crash } from './crash.ts';
import type { FederationDevice } from './device.ts';
import type { Accepted, OneShotWorld } from './one-shot-world.ts';

const ACCEPTED: Accepted = { kind: 'accepted' };

/** The message of a device: its upload header, and the body. */
export interface SentShot {
  readonly upload: Uint8Array;
  readonly body: Uint8Array;
  /** True if a crash came before it: the server may have the message already. */
  readonly isResumed: boolean;
}

export class ShotDevice {
  readonly own: FederationDevice;
  readonly world: OneShotWorld;
  /** The offset of its clock from the time of the world. */
  clockMs = 0;
  /** Called with every plan before it is applied. */
  onMask: ((masking: DeviceRole.Masking) => void) | undefined;

  constructor(world: OneShotWorld, own: FederationDevice) {
    this.world = world;
    this.own = own;
  }

  /** The same device in a copy of its federation, where it has the number that it has here. */
  copyIn(world: OneShotWorld, own: FederationDevice): ShotDevice {
    const copy = new ShotDevice(world, own);
    copy.clockMs = this.clockMs;
    return copy;
  }

  get suite(): Suite {
    return this.own.suite;
  }

  /** Contributes one update on the newest model, continuing from its records; survives its own crashes. */
  contribute(delta: Float32Array = this.own.oneHot(), fixed?: Uint32Array): Accepted | Refused {
    for (;;) {
      try {
        return this.#goOn(delta, fixed);
      } catch (error) {
        if (!(error instanceof Crash) || error.party !== 'user') throw error;
        this.own.restart();
      }
    }
  }

  #goOn(delta: Float32Array, fixed: Uint32Array | undefined): Accepted | Refused {
    if (this.own.session?.step === 'acknowledged') return ACCEPTED;
    if (this.own.session !== undefined) return this.send();
    const shown = this.world.call('model', () => this.world.shots.newestModel());
    const start = this.gather(shown, delta, fixed);
    return isRefused(start) ? start : this.send(start);
  }

  /** Builds x' of an update on this version. */
  inputOf(delta: Float32Array, version: number): BuiltInput {
    return this.own.buildVector(InputWords.sumRules(this.world.policy, version), delta);
  }

  /** Checks the model that it is shown, and fixes its input, unless a quantised input is given. */
  gather(
    shown: Uint8Array,
    delta: Float32Array = this.own.oneHot(),
    fixed?: Uint32Array,
  ): DeviceRole.ShotStart | Refused {
    const gathered = this.receive(ShownModel.decode(shown));
    if (isRefused(gathered)) return gathered;
    const { policy } = this.world;
    const { statement, epochs } = gathered;
    const { version } = statement;
    const built = fixed === undefined ? this.inputOf(delta, version) : { kind: 'input' as const, vector: fixed };
    if (built.kind === 'refused') return built;
    this.own.input = built.vector;
    return { policy, certificate: this.own.certificate, statement, epochs, now: this.#now() };
  }

  receive(shown: ShownModel): DeviceRole.Gathered | Refused {
    const { policy, task, now } = this.world;
    return DeviceRole.receiveModel({ suite: this.suite, policy, task, now: (now + this.clockMs) as typeof now }, shown);
  }

  /** Continues from a start, or from the state a crash left: to the server, and to the acknowledgement. */
  send(start?: DeviceRole.ShotStart): Accepted | Refused {
    return this.drive(start, ({ upload, body }) => this.world.call('shot', () => this.world.shots.take(upload, body)));
  }

  /** Goes through the steps of an upload, a new or the stored one; `deliver` receives the message. */
  drive(start: DeviceRole.ShotStart | undefined, deliver: (sent: SentShot) => Accepted | Refused): Accepted | Refused {
    const steps =
      start === undefined
        ? DeviceRole.resumeShot(this.#ports, this.own, this.#now())
        : DeviceRole.giveShot(this.#ports, this.own, start);
    let next = steps.next();
    while (next.done !== true) next = steps.next(this.#answer(next.value, deliver) as never);
    return next.value.kind === 'acknowledged' ? ACCEPTED : refused(next.value.reason);
  }

  #now(): Millis {
    return millis(this.world.now + this.clockMs);
  }

  #answer(request: DeviceRole.ContributeRequest, deliver: (sent: SentShot) => Accepted | Refused): unknown {
    switch (request.kind) {
      case 'sign':
        return this.own.signer.sign(request.statement);
      case 'durable':
        return void this.own.persist(request.step, request.body);
      case 'body':
        return this.own.body;
      case 'keys':
        return keysAtOnce(this.suite, once(request.work));
      case 'input':
        return this.own.input?.slice();
      case 'mask':
        this.onMask?.(request.masking);
        return this.world.mask(request.masking.vector, request.masking.plan);
      case 'shot': {
        const { upload, body, isResumed } = request;
        return deliver({ upload: ShotUpload.encode(upload), body, isResumed });
      }
    }
  }

  get #ports(): Ledger.UserPorts {
    const { kernel } = this.world.environment.tools;
    return { suite: this.suite, randomBytes: this.world.randomBytes, kernel };
  }
}

/** One batch of work and its results. */
function* once(work: readonly KeyWork[]): KeySteps<readonly KeyResult[]> {
  return yield work;
}

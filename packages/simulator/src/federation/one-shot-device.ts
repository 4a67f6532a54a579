/** A device of a one-shot federation: it takes the newest statements of the authorities, masks once and sends one message. */
import { equalBytes, type KeyResult, type KeySteps, type KeyWork, keysAtOnce, type Suite } from '@basa/masking';
import {
  type AuthorityStanding,
  type BuiltInput,
  type ContributeRequest,
  type Gathered,
  giveShot,
  type HeadBody,
  isRefused,
  type Masking,
  millis,
  type Refused,
  receiveStandings,
  refused,
  resumeShot,
  type ShotStart,
  shotUploadCodec,
  standingsCodec,
  sumRules,
  type UserPorts,
} from '@basa/protocol';
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
  onMask: ((masking: Masking) => void) | undefined;
  /** On disk: the newest head of each authority's log that it saw. */
  readonly heads = new Map<number, HeadBody>();

  constructor(world: OneShotWorld, own: FederationDevice) {
    this.world = world;
    this.own = own;
  }

  /** The same device in a copy of its federation, where it has the number that it has here. */
  copyIn(world: OneShotWorld, own: FederationDevice): ShotDevice {
    const copy = new ShotDevice(world, own);
    copy.clockMs = this.clockMs;
    for (const [authority, head] of this.heads) copy.heads.set(authority, head);
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
    const standings = this.world.call('standings', () => this.world.shots.standings());
    const start = this.gather(standings, delta, fixed);
    return isRefused(start) ? start : this.send(start);
  }

  /** Builds x' of an update on this version. */
  inputOf(delta: Float32Array, version: number): BuiltInput {
    return this.own.buildVector(sumRules(this.world.policy, version), delta);
  }

  /** Checks the statements that it is shown, and fixes its input, unless a quantised input is given. */
  gather(standings: Uint8Array, delta: Float32Array = this.own.oneHot(), fixed?: Uint32Array): ShotStart | Refused {
    const gathered = this.receive(standingsCodec.decode(standings).standings);
    if (isRefused(gathered)) return gathered;
    const { policy } = this.world;
    const { entry, epochs } = gathered;
    const built = fixed === undefined ? this.inputOf(delta, entry.version) : { kind: 'input' as const, vector: fixed };
    if (built.kind === 'refused') return built;
    this.own.input = built.vector;
    return { policy, certificate: this.own.certificate, entry, epochs };
  }

  /** Checks the statements, and records the newest ones, so that the device never accepts older ones. */
  receive(standings: readonly AuthorityStanding[]): Gathered | Refused {
    const { policy, task, now } = this.world;
    const question = {
      suite: this.suite,
      policy,
      task,
      now: (now + this.clockMs) as typeof now,
      isPast: (head: HeadBody, authority: number) => this.#isPast(head, authority),
    };
    const answer = this.own.persist(receiveStandings(question, this.own, standings));
    if (!isRefused(answer)) for (const { authority, beacon } of standings) this.heads.set(authority, beacon.head);
    return answer;
  }

  #isPast(head: HeadBody, authority: number): boolean {
    const seen = this.heads.get(authority);
    return seen !== undefined && equalBytes(seen.branch, head.branch) && head.sequence < seen.sequence;
  }

  /** Continues from a start, or from the state a crash left: to the server, and to the acknowledgement. */
  send(start?: ShotStart): Accepted | Refused {
    return this.drive(start, ({ upload, body }) => this.world.call('shot', () => this.world.shots.take(upload, body)));
  }

  /** Goes through the steps of an upload, a new or the stored one; `deliver` receives the message. */
  drive(start: ShotStart | undefined, deliver: (sent: SentShot) => Accepted | Refused): Accepted | Refused {
    const now = millis(this.world.now + this.clockMs);
    const steps = start === undefined ? resumeShot(this.#ports, this.own, now) : giveShot(this.#ports, this.own, start);
    let next = steps.next();
    while (next.done !== true) next = steps.next(this.#answer(next.value, deliver) as never);
    return next.value.kind === 'acknowledged' ? ACCEPTED : refused(next.value.reason);
  }

  #answer(request: ContributeRequest, deliver: (sent: SentShot) => Accepted | Refused): unknown {
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
        return deliver({ upload: shotUploadCodec.encode(upload), body, isResumed });
      }
    }
  }

  get #ports(): UserPorts {
    const { kernel } = this.world.environment.tools;
    return { suite: this.suite, randomBytes: this.world.randomBytes, kernel };
  }
}

/** One batch of work and its results. */
function* once(work: readonly KeyWork[]): KeySteps<readonly KeyResult[]> {
  return yield work;
}

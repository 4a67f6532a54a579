/** Carries out the requests of a contribution's steps: signatures, records, messages, masks. */
import type { Signer } from '@basa/masking';
import {
  authorityMessages,
  type ContributeEnd,
  type ContributeRequest,
  contributeSteps,
  type Deposit,
  type Device,
  type DeviceStep,
  doSealing,
  isRefused,
  type KeyAnswerOf,
  type KeyRequest,
  type Masking,
  type Refused,
  refused,
  type UserPorts,
} from '@basa/protocol';
import { askAll } from './council.ts';
import type { World } from './world.ts';

export interface Accepted {
  readonly kind: 'accepted';
}
export const ACCEPTED: Accepted = { kind: 'accepted' };
export type UploadRequest = Extract<ContributeRequest, { kind: 'upload' }>;

export type Step = 'seat' | 'deposit' | 'key' | 'upload';

/** Thrown if the stored state is not the state that the device wrote. The device then sends nothing. */
export class Damaged extends Error {}

/** A device with a session, as its steps need it. */
export interface DrivenDevice extends Device {
  readonly world: World;
  readonly ports: UserPorts;
  readonly signer: Signer;
  readonly input: Uint32Array | undefined;
  /** The keys of its slot, if it has them already. */
  readonly keyAnswers: readonly KeyAnswerOf[] | undefined;
  mask(masking: Masking): void;
  persist(step: DeviceStep<unknown>): void;
  depositBytes(message: Deposit): Uint8Array;
  uploadBytes(): Uint8Array;
}

/** Continues the device's session up to and including `until`; `keep` receives the upload once it is frozen. */
export function driveSession(
  device: DrivenDevice,
  until: Step | 'freeze',
  keep: (upload: UploadRequest) => void,
): Accepted | Refused {
  if (device.session?.step === 'frozen' && (until === 'deposit' || until === 'key')) return ACCEPTED;
  const { world } = device;
  const steps = contributeSteps(device.ports, device);
  let next = steps.next();
  while (!next.done) {
    const request = next.value;
    switch (request.kind) {
      case 'sign':
        if (until === 'deposit' && request.of === 'key') return ACCEPTED;
        next = steps.next(device.signer.sign(request.statement));
        break;
      case 'durable':
        device.persist(request.step);
        next = steps.next();
        break;
      case 'deposit': {
        const answer = world.call('deposit', () => world.server.deposit(device.depositBytes(request.message)));
        if (!(answer instanceof Uint8Array)) return answer;
        next = steps.next(world.server.messages.depositAnswer.decode(answer));
        break;
      }
      case 'key': {
        const answers = device.keyAnswers ?? keysOf(world, request.message);
        if (isRefused(answers)) return answers;
        if (until === 'key') return ACCEPTED;
        next = steps.next(answers);
        break;
      }
      case 'sealing':
        next = steps.next(doSealing(device.ports.sealing, request.work));
        break;
      case 'input':
        next = steps.next(device.input as Uint32Array);
        break;
      case 'mask':
        device.mask(request.masking);
        next = steps.next();
        break;
      case 'upload': {
        keep(request);
        if (until === 'freeze') return ACCEPTED;
        const answer = world.call('upload', () => world.server.upload(device.uploadBytes()));
        if (answer.kind === 'refused') return answer;
        next = steps.next(ACCEPTED);
      }
    }
  }
  return ended(next.value);
}

/** Returns the answers of all authorities that are present; a refusal if too few granted the request. */
function keysOf(world: World, message: KeyRequest): readonly KeyAnswerOf[] | Refused {
  const { keyRequest, keyAnswer } = authorityMessages(world.policy.bufferSize);
  const bytes = keyRequest.encode(message);
  const { answers, no } = askAll(world, 'key', (authority) => authority.issueKey(bytes));
  if (answers.length < world.policy.threshold)
    return no ?? refused('key-invalid', { detail: 'too few authorities are there' });
  return answers.map(({ authority, answer }) => ({ authority, answer: keyAnswer.decode(answer) }));
}

function ended(end: ContributeEnd): Accepted | Refused {
  if (end.kind === 'damaged') throw new Damaged(end.problem);
  return end.kind === 'acknowledged' ? ACCEPTED : refused(end.reason);
}

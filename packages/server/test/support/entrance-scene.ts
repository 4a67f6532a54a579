/** The entrance of a task whose authorities draw a buffer whenever they are asked. */
import {
  type BasaEvent,
  type Certificate,
  type CertificateBody,
  certificateCodec,
  endorse,
  type ModelEntry,
  millis,
  type SeatRequest,
  type TaskPolicy,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { Entrance } from '../../src/admission/entrance.ts';
import { SuspicionWatch } from '../../src/admission/suspicion-watch.ts';
import { TaskAdmission } from '../../src/admission/task-admission.ts';
import { Tuning } from '../../src/admission/tuning.ts';
import type { Revocations } from '../../src/authority/revocations.ts';
import type { TaskAuthorities } from '../../src/authority/task-authorities.ts';
import { BufferKeeper } from '../../src/buffers/buffer-keeper.ts';
import type { ModelKeeper } from '../../src/closing/model-keeper.ts';
import { buffersOf, task } from './store-samples.ts';
import { volatileTickets } from './volatile-tickets.ts';

const authority = createNodeSigner(nodeRandomBytes(32));
const council = { authorities: [authority.publicKey], threshold: 1, unsafeThreshold: false };
export const EXPIRY = 1_000_000;

export interface SceneOptions {
  readonly clock: () => number;
  readonly bufferSize: number;
  readonly minimum: number;
  readonly seatMs: number;
  /** Of the buffers that are drawn. */
  readonly expiry?: number;
  /** True if the version of a buffer is known to this server. */
  readonly isOurs?: boolean;
  readonly places?: number;
  /** The number of seats to keep free; learned if it is missing. */
  readonly seatsAhead?: number;
  readonly versions?: TaskPolicy['versions'];
  /** The newest version, of which there is none below 0. */
  readonly newest?: number;
  /** The version of the buffers that are drawn. */
  readonly drawnVersion?: number;
  /** Throws the answer of the authorities. */
  readonly refuse?: () => void;
}

export async function openEntrance({
  clock,
  bufferSize,
  minimum,
  seatMs,
  expiry = EXPIRY,
  isOurs = true,
  places = 10_000,
  seatsAhead,
  versions = 'one',
  newest = 0,
  drawnVersion = 0,
  refuse = () => undefined,
}: SceneOptions) {
  const { store, tickets } = await volatileTickets(task, clock, { bufferSize, minimum, versions });
  const events: BasaEvent[] = [];
  const onEvent = (event: BasaEvent): void => void events.push(event);
  const ports = { suite: nodeSuite, signer: authority };
  const admission = new TaskAdmission({
    task,
    tickets,
    clock,
    bufferSize,
    places,
    targetAge: 3,
    maxWaitingBuffers: 2,
    jitter: () => 0,
    uploadLeaseMs: EXPIRY,
  });
  const keeper = new BufferKeeper({
    store,
    ports,
    upToDate: async (copy) => copy,
    onEvent,
    onBuffer: (buffer) => admission.track(buffer),
  });
  const entryOf = (version: number) => ({ version, entry: { version } as ModelEntry });
  const drawn: Uint8Array[] = [];
  const wanted: number[] = [];
  const refreshed: number[] = [];
  const tuning = new Tuning({ seatMs, bufferSize });
  const learned = tuning.at.bind(tuning);
  tuning.at = (now) => ({ ...learned(now), ...(seatsAhead !== undefined && { seatsAhead }) });
  const entrance = new Entrance({
    store,
    tickets,
    keeper,
    ports,
    clock,
    task,
    admission,
    policy: {
      ...council,
      bufferSize,
      versions,
      openMs: 2_000,
      maxStaleness: 10,
    } as Partial<TaskPolicy> as TaskPolicy,
    revocations: { catchUp: async () => undefined } as unknown as Revocations,
    authorities: {
      drawBuffer: async (nonce: Uint8Array, { model }: { readonly model: ModelEntry }) => {
        await new Promise((resolve) => setImmediate(resolve)); // others come meanwhile
        drawn.push(nonce);
        wanted.push(model.version);
        refuse();
        const part = () => ({ authority: 0, offer: nodeRandomBytes(16), sealingKey: new Uint8Array(48) });
        const change = { bufferSize, minimum, expiry: millis(expiry), version: drawnVersion, versions };
        const draw = () => buffersOf(1, { ...change, parts: [part()] });
        let buffer = draw();
        while ((buffer.ctx[0] as number) % 5 === 0) buffer = draw(); // those are open to strong suspects
        return buffer;
      },
    } as unknown as TaskAuthorities,
    models: {
      newest: newest < 0 ? undefined : entryOf(newest),
      refresh: async () => void refreshed.push(newest),
      stored: async (version: number) => (version <= newest ? entryOf(version) : undefined),
      has: async ({ modelHash }: { modelHash: Uint8Array }) => isOurs || modelHash[0] === 0,
    } as unknown as ModelKeeper,
    tuning,
    suspicion: new SuspicionWatch({ task, store }),
    checkRunning: async () => undefined,
    onEvent,
    onTrouble: () => undefined,
  });
  return { entrance, store, tickets, keeper, admission, drawn, wanted, refreshed, events };
}

export function certificate(change: Partial<CertificateBody> = {}): Certificate {
  const body: CertificateBody = { task, deviceKey: nodeRandomBytes(32), issuedAt: millis(0), notAfter: millis(1e12) };
  return endorse(certificateCodec, council, authority, { ...body, ...change });
}

/** An update on a version that this server has. */
export function requestOf(device: Certificate = certificate(), version = 0): SeatRequest {
  return { certificate: device, version, modelHash: new Uint8Array(32) };
}

/** A task with real authorities over real HTTP: what its server and its devices ask of them. */
import { toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  type Batch,
  batchCtxOf,
  batchOf,
  batchVoteRequestCodec,
  type Certificate,
  type Ctx,
  certificateCodec,
  type Endorsement,
  type Epoch,
  epochNameOf,
  type InspectAnswer,
  inspectAnswerCodec,
  inspectRequestCodec,
  liveEpochsCodec,
  type ModelStatement,
  modelStatementCodec,
  type ReleaseAnswer,
  releaseAnswerCodec,
  releaseRequestCodec,
  type ShownUpload,
  shotLayout,
  signStatement,
  type TaskPolicy,
  unframeHeader,
  uploadNameOf,
  type Vote,
  voteCodec,
  type WantedSum,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { type Enrolled, maskedUpload, type TestUpload } from '@basa/testkit/core/one-shot/shot-upload.ts';
import type { Authority } from '../../src/index.ts';
import { type Answer, ask, askAs, type Device, newDevice } from '../asking.ts';
import { OPERATOR } from '../homes.ts';
import { TestServer } from '../parties.ts';

export class ShotWorld {
  readonly server: TestServer;
  readonly enrolled: readonly Enrolled[];
  statement: ModelStatement;

  constructor(server: TestServer, enrolled: readonly Enrolled[]) {
    this.server = server;
    this.enrolled = enrolled;
    this.statement = this.version(0);
  }

  get policy(): TaskPolicy {
    return this.server.policy;
  }

  get task() {
    return this.server.task;
  }

  /** The statement of the server for this version. */
  version(version: number): ModelStatement {
    const body = { task: this.task, version, serial: version, modelHash: new Uint8Array(32).fill(version) };
    return signStatement(modelStatementCodec, this.server.signer, body);
  }

  /** The newest epoch of an authority. */
  async epoch(authority: Authority): Promise<Epoch> {
    const answer = await ask(authority, AUTHORITY_PATH.epochs(this.task));
    if (answer.status !== 200) throw new Error(`no epoch: ${answer.code}`);
    return liveEpochsCodec.decode(answer.bytes).epochs.at(-1) as Epoch;
  }

  async epochs(authorities: readonly Authority[]): Promise<readonly Epoch[]> {
    return Promise.all(authorities.map((authority) => this.epoch(authority)));
  }

  /**
   * One upload of each device, sealed to the open epochs of these authorities, in the order of a batch; every word but the guards has the
   * number of its device.
   */
  async uploads(authorities: readonly Authority[], count = this.enrolled.length): Promise<readonly TestUpload[]> {
    const epochs = await this.epochs(authorities);
    const on = { policy: this.policy, statement: this.statement, epochs };
    const names = epochs.map((epoch) => epochNameOf(nodeSuite, epoch));
    const made = this.enrolled.slice(0, count).map((one, n) => {
      const input = new Uint32Array(shotLayout(this.policy, names).elements).fill(n + 1);
      input.set([1, 0, 0, 0]);
      input.fill(0, -4);
      return maskedUpload(one, on, input);
    });
    return inOrder(made);
  }

  inspectRequest(uploads: readonly ShownUpload[], epochs: readonly Epoch[], signer = this.server.signer): Uint8Array {
    const body = { task: this.task, epochs, uploads };
    return inspectRequestCodec.encode({ ...body, signature: signer.sign(inspectRequestCodec.statement(body)) });
  }

  inspect(authority: Authority, request: Uint8Array): Promise<Answer> {
    return this.asked(authority, AUTHORITY_PATH.inspections(this.task), request);
  }

  /** As the server of the task. */
  asked(authority: Authority, path: string, request: Uint8Array, signer = this.server.signer): Promise<Answer> {
    return askAs(newDevice(signer), authority, path, request);
  }

  /** Good and bad ones alike. */
  async inspected(
    authority: Authority,
    uploads: readonly TestUpload[],
    epochs: readonly Epoch[],
  ): Promise<InspectAnswer> {
    const shown = uploads.map((one) => one.shown);
    const answer = await this.inspect(authority, this.inspectRequest(shown, epochs));
    if (answer.status !== 200) throw new Error(`not inspected: ${answer.code}`);
    return inspectAnswerCodec.decode(answer.bytes);
  }

  batchOf(uploads: readonly TestUpload[]): Batch {
    return batchOf(this.task, uploads.map(uploadNameOfTest));
  }

  voteRequest(batch: Batch, signer = this.server.signer): Uint8Array {
    const body = { batch };
    return batchVoteRequestCodec.encode({ ...body, signature: signer.sign(batchVoteRequestCodec.statement(body)) });
  }

  vote(authority: Authority, request: Uint8Array): Promise<Answer> {
    return this.asked(authority, AUTHORITY_PATH.batchVotes(this.task), request);
  }

  async voted(authority: Authority, batch: Batch): Promise<Vote> {
    const answer = await this.vote(authority, this.voteRequest(batch));
    if (answer.status !== 200) throw new Error(`no vote: ${answer.code}`);
    return voteCodec.decode(answer.bytes);
  }

  releaseRequest(asked: ReleaseAsked, signer = this.server.signer): Uint8Array {
    const { uploads, epochs, votes, wanted, batch = this.batchOf(uploads) } = asked;
    const body = { batch, votes, epochs, uploads: uploads.map(({ shown }) => shown), wanted };
    return releaseRequestCodec.encode({ ...body, signature: signer.sign(releaseRequestCodec.statement(body)) });
  }

  release(authority: Authority, request: Uint8Array): Promise<Answer> {
    return this.asked(authority, AUTHORITY_PATH.releases(this.task), request);
  }

  enrolment(device: Device, authority: Authority): Promise<Answer> {
    return askAs(device, authority, AUTHORITY_PATH.enrolments(this.task), {});
  }
}

export interface ReleaseAsked {
  readonly uploads: readonly TestUpload[];
  readonly epochs: readonly Epoch[];
  readonly votes: readonly Endorsement[];
  readonly wanted: readonly WantedSum[];
  readonly batch?: Batch;
}

/** Ascending by their names, as in a batch. */
export function inOrder(uploads: readonly TestUpload[]): readonly TestUpload[] {
  return [...uploads].sort((one, other) => Buffer.compare(uploadNameOfTest(one), uploadNameOfTest(other)));
}

function uploadNameOfTest({ shown }: TestUpload): Ctx {
  return uploadNameOf(nodeSuite, shown.header);
}

/** The head of a release answer, and the bytes behind it. */
export function openRelease({ bytes }: Answer): { readonly answer: ReleaseAnswer; readonly vectors: Uint8Array } {
  const { header, bodyStart } = unframeHeader(bytes, 65_536);
  return { answer: releaseAnswerCodec.decode(header), vectors: bytes.subarray(bodyStart) };
}

/** A task at one authority, with an upload of each device. */
export interface ShotScene {
  readonly world: ShotWorld;
  readonly epochs: readonly Epoch[];
  readonly uploads: readonly TestUpload[];
}

export async function shotScene(
  authority: Authority,
  count: number,
  more: Partial<TaskPolicy> = {},
): Promise<ShotScene> {
  const world = await shotStage([authority], count, more);
  return { world, epochs: await world.epochs([authority]), uploads: await world.uploads([authority]) };
}

/** Whether the authority can still vote for these uploads, or their epochs are dead. */
export async function standOf(authority: Authority, { world, epochs, uploads }: ShotScene): Promise<'live' | 'dead'> {
  const { verdicts } = await world.inspected(authority, uploads, epochs);
  if (verdicts.every(({ verdict }) => verdict === 'good')) return 'live';
  if (verdicts.every(({ verdict, reason }) => verdict === 'abstain' && reason === 'epoch-over')) return 'dead';
  throw new Error(`the verdicts differ: ${verdicts.map(({ verdict }) => verdict).join()}`);
}

/** Inspects the uploads and votes for the batch of them. */
export async function finalBatch(authority: Authority, { world, epochs, uploads }: ShotScene) {
  await world.inspected(authority, uploads, epochs);
  const batch = world.batchOf(uploads);
  const request = world.voteRequest(batch);
  const votes = (await world.voted(authority, batch)).endorsements;
  return { ctx: batchCtxOf(nodeSuite, batch), request, votes };
}

/** Authorities with a task, and this many devices with certificates of all of them. */
export async function shotStage(
  authorities: readonly Authority[],
  count: number,
  more: Partial<TaskPolicy> = {},
): Promise<ShotWorld> {
  const server = new TestServer({
    authorities: authorities.map(({ publicKey }) => publicKey),
    bufferSize: 10,
    ...more,
  });
  for (const authority of authorities) await server.createTask(authority);
  const enrolled = await Promise.all(Array.from({ length: count }, () => enrolledAt(server, authorities)));
  return new ShotWorld(server, enrolled);
}

async function enrolledAt(server: TestServer, authorities: readonly Authority[]): Promise<Enrolled> {
  const device = newDevice();
  const list = { method: 'PUT', body: { deviceKeys: [toHex(device.deviceKey)] }, token: OPERATOR };
  const path = AUTHORITY_PATH.enrolments(server.task);
  const certificates: Certificate[] = [];
  for (const authority of authorities) {
    await ask(authority, AUTHORITY_PATH.allowList(server.task), list);
    const answer = await askAs(device, authority, path, {});
    certificates.push(certificateCodec.decode(answer.bytes));
  }
  const endorsements = certificates.flatMap((one) => one.endorsements);
  return { device, certificate: { ...(certificates[0] as Certificate), endorsements } };
}

/** Parties that talk to a real authority over real HTTP: an operator, a server and devices, in as few words as the authority sees. */
import { ascii, RING_32, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  authorityMessages,
  bufferRequestCodec,
  type CloseAnswer,
  type Ctx,
  certificateCodec,
  ctxOf,
  type DepositRoot,
  type Descriptor,
  type DrawnBuffer,
  depositStatementCodec,
  drawnBufferCodec,
  ENGINE,
  encodePolicy,
  joinTagOf,
  type ModelEntry,
  millis,
  modelAppendCodec,
  modelEntryCodec,
  type Outcome,
  openEnvelope,
  outcomeCodec,
  POLICY_DEFAULTS,
  type Slot,
  type TaskPolicy,
  taskIdOf,
  ticketCodec,
  viewsOf,
  withPolicy,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Authority } from '../src/index.ts';
import { type Answer, ask, askAs, type Device, newDevice, userOf } from './asking.ts';
import { OPERATOR, time } from './homes.ts';

const ZEROS = new Uint8Array(32);

/** The server of one task. */
export class TestServer {
  readonly signer = createNodeSigner(nodeRandomBytes(32));
  /** With the key of the authority that it was created at. */
  policy: TaskPolicy;
  /** The last entry of the model log that it heard of. */
  newest: ModelEntry | undefined;

  constructor(more: Partial<TaskPolicy> = {}) {
    this.policy = {
      name: ascii('test'),
      engine: ENGINE.slotKeys,
      bufferSize: 3,
      minimum: 2,
      dimension: 8,
      modulus: RING_32,
      level: 1,
      clip: 1,
      staleness: { kind: 'constant' },
      maxStaleness: 10,
      ...POLICY_DEFAULTS,
      authorities: [],
      manifestHash: new Uint8Array(32),
      serverKey: this.signer.publicKey,
      uploadLeaseMs: 1000,
      openMs: 60_000,
      closeMs: 60_000,
      ...more,
    };
  }

  get task() {
    return taskIdOf(nodeSuite, this.policy);
  }

  createTask(authority: Authority): Promise<Answer> {
    if (this.policy.authorities.length === 0) this.policy = { ...this.policy, authorities: [authority.publicKey] };
    return ask(authority, AUTHORITY_PATH.tasks, { body: encodePolicy(this.policy), token: OPERATOR });
  }

  /** `at`: the task of the address, if it is not its own. */
  async appendModel(
    authority: Authority,
    version: number,
    ctx: Uint8Array,
    modelHash = new Uint8Array(32).fill(version),
    at = this.task,
  ): Promise<Answer> {
    const sums = version === 0 ? [] : [ctx as Ctx];
    const body = { task: this.task, version, modelHash, sums, spoilt: [], closed: [] };
    const append = { ...body, signature: this.signer.sign(modelAppendCodec.statement(body)) };
    const answer = await ask(authority, AUTHORITY_PATH.modelLog(at), { body: modelAppendCodec.encode(append) });
    if (answer.status === 200) this.newest = modelEntryCodec.decode(answer.bytes);
    return answer;
  }

  drawRequest(nonce: Uint8Array = nodeRandomBytes(16)): Uint8Array {
    const model = this.newest ?? {
      task: this.task,
      version: 0,
      modelHash: ZEROS,
      sums: [],
      spoilt: [],
      previous: ZEROS,
      endorsements: [],
    };
    const body = { task: this.task, nonce, model, newest: model, plan: [] };
    return bufferRequestCodec.encode({ ...body, signature: this.signer.sign(bufferRequestCodec.statement(body)) });
  }

  async draw(authority: Authority): Promise<TestBuffer> {
    const answer = await ask(authority, AUTHORITY_PATH.buffers, { body: this.drawRequest() });
    if (answer.status !== 200) throw new Error(`no buffer: ${answer.code}`);
    return new TestBuffer(this, drawnBufferCodec.decode(answer.bytes));
  }
}

interface Seat {
  readonly device: Device;
  readonly certificate: Uint8Array;
  readonly nonce: Uint8Array;
  readonly root: DepositRoot;
  readonly ephemeralSecret: Uint8Array;
}

/** One buffer, with the deposits in slot order. */
export class TestBuffer {
  readonly server: TestServer;
  readonly descriptor: Descriptor;
  readonly slotKeys: Uint8Array;
  readonly ctx: Ctx;
  readonly seats: Seat[] = [];

  constructor(server: TestServer, { descriptor, slotKeys }: DrawnBuffer) {
    this.server = server;
    this.descriptor = withPolicy(server.policy, descriptor);
    this.slotKeys = slotKeys;
    this.ctx = ctxOf(nodeSuite, descriptor);
  }

  get #links() {
    return this.seats.map((seat) => ({ joinTag: this.#tagOf(seat), root: seat.root }));
  }

  get #messages() {
    return authorityMessages(this.descriptor.bufferSize);
  }

  #tagOf({ device, nonce }: Seat) {
    return joinTagOf(nodeSuite, { ctx: this.ctx, user: userOf(device), nonce });
  }

  /** The device deposits and gets the next slot. */
  seat(device: Device, certificate: Uint8Array): number {
    const [root, ephemeralSecret] = [nodeRandomBytes(32) as DepositRoot, nodeRandomBytes(32)];
    return this.seats.push({ device, certificate, nonce: nodeRandomBytes(16), root, ephemeralSecret }) - 1;
  }

  keyRequest(slot: number): Uint8Array {
    const seat = this.seats[slot] as Seat;
    const earlier = this.#links.slice(0, slot);
    const ticketBody = {
      ctx: this.ctx,
      slot: slot as Slot,
      joinTag: this.#tagOf(seat),
      root: seat.root,
      view: viewsOf(nodeSuite, this.ctx, earlier)[slot] as never,
      deadline: millis(time.now),
    };
    const body = {
      certificate: certificateCodec.decode(seat.certificate),
      nonce: seat.nonce,
      ticket: { ...ticketBody, signature: this.server.signer.sign(ticketCodec.statement(ticketBody)) },
      earlier,
      ephemeralKey: nodeSuite.x25519(seat.ephemeralSecret).publicKey,
    };
    const { keyRequest } = this.#messages;
    return keyRequest.encode({ ...body, signature: seat.device.sign(keyRequest.statement(body)) });
  }

  /** For the same slot as well, with another ephemeral key. */
  otherKeyRequest(slot: number): Uint8Array {
    const other = new TestBuffer(this.server, this);
    other.seats.push(...this.seats.map((seat) => ({ ...seat, ephemeralSecret: nodeRandomBytes(32) })));
    return other.keyRequest(slot);
  }

  askKey(authority: Authority, slot: number, request: Uint8Array = this.keyRequest(slot)): Promise<Answer> {
    return askAs((this.seats[slot] as Seat).device, authority, AUTHORITY_PATH.keys(this.ctx), request);
  }

  /** The key inside an answer, and what the authority says of it. */
  openKey(slot: number, { bytes }: Answer) {
    const { envelope, receipt, issued } = this.#messages.keyAnswer.decode(bytes);
    const { ephemeralSecret } = this.seats[slot] as Seat;
    const { requestDigest } = issued;
    const key = openEnvelope(nodeSuite, { recipientSecret: ephemeralSecret, requestDigest, envelope });
    if (key === undefined) throw new Error('the envelope does not open');
    return { key, receipt, issued };
  }

  closeRequest(accepted: readonly number[], keys: readonly Answer[]): Uint8Array {
    const { closeRequest, uploadHeader, keyAnswer } = this.#messages;
    const views = viewsOf(nodeSuite, this.ctx, this.#links);
    const isSlotKeys = this.descriptor.engine === ENGINE.slotKeys;
    const body = {
      ctx: this.ctx,
      deposits: this.seats.map((seat) => {
        const statement = { ctx: this.ctx, joinTag: this.#tagOf(seat), root: seat.root };
        const signature = seat.device.sign(depositStatementCodec.statement(statement));
        return { deviceKey: seat.device.deviceKey, nonce: seat.nonce, root: seat.root, signature };
      }),
      accepted: accepted as readonly Slot[],
      headers: accepted.map((slot) => {
        const seat = this.seats[slot] as Seat;
        const header = {
          ctx: this.ctx,
          slot: slot as Slot,
          joinTag: this.#tagOf(seat),
          view: views[slot] as never,
          selfName: isSlotKeys ? nodeSuite.x25519(nodeRandomBytes(32)).publicKey : new Uint8Array(),
          bodyHash: new Uint8Array(32),
          voids: [],
          receipt: keyAnswer.decode((keys[slot] as Answer).bytes).receipt,
        };
        return { ...header, signature: seat.device.sign(uploadHeader.statement(header)) };
      }),
      votes: [],
    };
    return closeRequest.encode({ ...body, signature: this.server.signer.sign(closeRequest.statement(body)) });
  }

  close(authority: Authority, request: Uint8Array): Promise<Answer> {
    return askAs(newDevice(this.server.signer), authority, AUTHORITY_PATH.close(this.ctx), request);
  }

  releasedKeys({ bytes }: Answer): CloseAnswer {
    return this.#messages.closeAnswer.decode(bytes);
  }

  async outcome(authority: Authority): Promise<Outcome> {
    return outcomeCodec.decode((await ask(authority, AUTHORITY_PATH.outcome(this.ctx))).bytes);
  }
}

interface TestWorld {
  readonly server: TestServer;
  readonly enrolled: readonly { readonly device: Device; readonly certificate: Uint8Array }[];
}

/** An authority with a task, a logged model and this many enrolled devices. */
export async function stage(authority: Authority, count: number, policy: Partial<TaskPolicy> = {}): Promise<TestWorld> {
  const server = new TestServer(policy);
  await server.createTask(authority);
  await server.appendModel(authority, 0, new Uint8Array(32));
  const devices = Array.from({ length: count }, newDevice);
  const deviceKeys = devices.map(({ deviceKey }) => toHex(deviceKey));
  await ask(authority, AUTHORITY_PATH.allowList(server.task), { method: 'PUT', body: { deviceKeys }, token: OPERATOR });
  const enrolled = await Promise.all(
    devices.map(async (device) => {
      const answer = await askAs(device, authority, AUTHORITY_PATH.enrolments(server.task), {});
      return { device, certificate: answer.bytes };
    }),
  );
  return { server, enrolled };
}

/** A buffer in which the first `count` devices hold a slot each. */
export async function seated(
  authority: Authority,
  { server, enrolled }: TestWorld,
  count: number = enrolled.length,
): Promise<TestBuffer> {
  const buffer = await server.draw(authority);
  for (const { device, certificate } of enrolled.slice(0, count)) buffer.seat(device, certificate);
  return buffer;
}

/** Whole buffers as vectors: `sealed` with three and six positions and drop-outs, with both engines; `paper`; `one-shot`; and a log. */

import {
  addInPlace,
  applyMasksInPlace,
  FIELD,
  type MaskTerm,
  RING_32,
  ring,
  unsafeTransparentSealing,
} from '@basa/masking';
import {
  acceptPaperUpload,
  type Ctx,
  closeRequestOf,
  connectPaper,
  contributePaper,
  drawnBufferCodec,
  encodePolicy,
  millis,
  paperInput,
  paperMessages,
  paperTicketCodec,
  type SlottedSession,
  seatRequestCodec,
  type UserId,
  type UserRecord,
  unsafePaperBuffer,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { type Federation, type FederationDevice, type FederationOptions, granted, type Step } from '@basa/simulator';
import { seededWords } from '@basa/virtual-time/simulation';
import { nodeFederation, wasmTools } from '../core/tools.ts';
import { logVector } from './log.ts';
import { oneShotVector } from './one-shot.ts';
import { cpAbeEngine, slotKeyEngine, type VectorEngine } from './vector-engines.ts';

/** Positions of the paper-mode buffer. */
const K = 3;

const DROP_OUT: readonly Step[] = ['upload', 'key', 'upload'];
const OF_SIX = 'slot 0 drops out after its key, slot 3 before it, slot 5 is free';

/** For buffers with six positions. */
const METRICS = [
  { name: 'loss', low: 0, high: 8 },
  { name: 'accuracy', low: 0, high: 1 },
];

const PRIVACY = { noiseMultiplier: 1, colluders: 0, delta: 1e-6, participations: 4 };

export async function protocolVectors(): Promise<object> {
  const [slotKeys, cpAbe] = [slotKeyEngine(), await cpAbeEngine()];
  const six: readonly Step[] = ['key', 'upload', 'upload', 'deposit', 'upload'];
  return {
    about:
      'Written by `npm run write -- vectors`; checked by conformance/vectors/check_protocol.py, what needs a pairing by clients/python.',
    sealed: [
      sealedVector('slot keys, full', slotKeys, { bufferSize: 3, modulus: RING_32 }, ['upload', 'upload', 'upload']),
      sealedVector(
        'slot keys, mixed versions, full',
        slotKeys,
        { bufferSize: 3, modulus: RING_32, versions: 'unsafeMixed' },
        ['upload', 'upload', 'upload'],
      ),
      sealedVector(
        'slot keys, slot 1 drops out after its key',
        slotKeys,
        { bufferSize: 3, modulus: RING_32 },
        DROP_OUT,
      ),
      sealedVector(`slot keys, field, ${OF_SIX}`, slotKeys, { bufferSize: 6, modulus: FIELD }, six),
      sealedVector(
        'slot keys, differentially private, slot 1 drops out after its key',
        slotKeys,
        { bufferSize: 3, modulus: ring(16), level: 8, privacy: PRIVACY },
        DROP_OUT,
      ),
      sealedVector('CP-ABE, slot 1 drops out after its key', cpAbe, { bufferSize: 3, modulus: RING_32 }, DROP_OUT),
      sealedVector(`CP-ABE, ring of 20 bits, ${OF_SIX}`, cpAbe, { bufferSize: 6, modulus: ring(20) }, six),
    ],
    paper: [paperVector()],
    oneShot: [
      oneShotVector('one authority', 1),
      oneShotVector('3 of 4 authorities, of which one may collude', 4),
      oneShotVector('ML-KEM, with one authority', 1, 'x25519+mlkem768'),
    ],
    log: [logVector()],
  };
}

function sealedVector(
  name: string,
  engine: VectorEngine,
  options: Pick<FederationOptions, 'bufferSize' | 'modulus' | 'level' | 'privacy' | 'versions'>,
  steps: readonly Step[],
): object {
  const isMixed = options.versions === 'unsafeMixed';
  const world = nodeFederation({
    ...options,
    dimension: 4,
    seed: 42,
    ...(isMixed && { staleness: { kind: 'polynomial', exponent: 0.5 } }),
    metrics: options.bufferSize === 6 ? METRICS : [],
    sealings: engine.sealings,
  });
  const sent = recorder(world);
  const users = steps.map((step, n) => {
    const device = world.device();
    device.metrics = { loss: n / 4, accuracy: 1 - n / 10 };
    // With mixed versions some users trained on a newer version than the one the buffer was drawn for.
    granted(device.contribute('deposit', Float32Array.of(1, n === 0 ? -1 : 0, n, 0.25), isMixed ? n : 0));
    const { ephemeralSecret } = device.session as SlottedSession;
    const ephemeral = hex(ephemeralSecret.reveal());
    granted(device.contribute(step));
    const asked = isMixed ? {} : { seatRequest: hex(seatRequestOf(device)) };
    return { ...asked, ...userVector(device, sent.splice(0), ephemeral), ...engine.drawn() };
  });
  const { ctx } = world.devices[0] as FederationDevice;
  granted(world.server.freeze(ctx, 'stalled'));
  const closeRequest = granted(closeRequestOf(world.server.ports, world.server.buffer(ctx)));
  const { closeRequest: requestCodec, closeAnswer } = world.authority.messages;
  const answer = granted(world.authority.close(requestCodec.encode(closeRequest)));
  const verdict = world.server.finish(ctx, 'stalled');
  if (verdict.kind !== 'good') throw new Error(verdict.why);
  return {
    name,
    policy: hex(encodePolicy(world.policy)),
    task: hex(world.task),
    authorityKey: hex(world.authority.publicKey),
    serverKey: hex(world.server.ports.signer.publicKey),
    drawnBuffer: hex(drawnBufferCodec.encode(world.server.buffer(ctx))),
    ctx: hex(ctx),
    users,
    closeRequest: hex(requestCodec.encode(closeRequest)),
    closeAnswer: hex(closeAnswer.encode(answer)),
    sum: [...verdict.sum],
    weightSum: verdict.weightSum,
    versionSum: verdict.versionSum,
    metrics: verdict.metrics,
  };
}

/** The bytes between users, server and authority, in order. */
function recorder(world: Federation): [string, Uint8Array][] {
  const sent: [string, Uint8Array][] = [];
  const { server, authority } = world;
  const [deposit, upload, issueKey] = [
    server.deposit.bind(server),
    server.upload.bind(server),
    authority.issueKey.bind(authority),
  ];
  const both = <Answer>(names: readonly [string, string], ask: (bytes: Uint8Array) => Answer) => {
    return (bytes: Uint8Array): Answer => {
      const answer = ask(bytes);
      sent.push([names[0], bytes]);
      if (answer instanceof Uint8Array) sent.push([names[1], answer]);
      return answer;
    };
  };
  server.deposit = both(['deposit', 'depositAnswer'], deposit);
  server.upload = both(['upload', ''], upload);
  authority.issueKey = both(['keyRequest', 'keyAnswer'], issueKey);
  return sent;
}

function userVector(device: FederationDevice, sent: readonly [string, Uint8Array][], ephemeralSecret: string): object {
  const [prepared] = device.records as [Extract<UserRecord, { kind: 'prepared' }>];
  const frozen = device.records.find((entry) => entry.kind === 'frozen');
  return {
    deviceKey: hex(device.signer.publicKey),
    user: hex(device.user),
    nonce: hex(prepared.nonce),
    joinTag: hex((device.session as SlottedSession).member.joinTag),
    edges: prepared.edges.map(hex),
    ...(frozen !== undefined && { self: hex(frozen.self) }),
    input: [...(device.input as Uint32Array)],
    ...(sent.some(([name]) => name === 'keyRequest') && { ephemeralSecret }),
    ...Object.fromEntries(sent.map(([name, bytes]) => [name, hex(bytes)])),
  };
}

/** In a buffer of the version that the update was trained on. */
function seatRequestOf({ session }: FederationDevice): Uint8Array {
  const { certificate, descriptor } = (session as SlottedSession).member;
  return seatRequestCodec.encode({ certificate, version: descriptor.version, modelHash: descriptor.modelHash });
}

/** Algorithms 1 and 2, with staleness weights in clear. */
function paperVector(): object {
  const tools = wasmTools();
  const fill = seededWords(43);
  const randomBytes = (length: number): Uint8Array => {
    const words = new Uint32Array(length / 4);
    fill(words);
    return new Uint8Array(words.buffer);
  };
  const signer = createNodeSigner(randomBytes(32));
  const sealing = unsafeTransparentSealing({ seed: 32, attribute: 32, context: 70 });
  const quantizer = { level: 1000, clip: 1, modulus: FIELD, staleness: { kind: 'polynomial' as const, exponent: 0.5 } };
  let buffer = unsafePaperBuffer({ bufferSize: K, leaseMs: 100 }, randomBytes(32) as Ctx, 5);
  const sum = new Uint32Array(4);
  const users = [5, 4, 2].map((trainedOn, n) => {
    const user = nodeSuite.sha256(Uint8Array.of(n)) as UserId;
    const connected = connectPaper({ suite: nodeSuite, signer }, buffer, user, millis(0));
    const connection = granted(connected.answer);
    const input = granted(
      paperInput(
        Float32Array.of(1, -0.5, n / 4, 0),
        quantizer,
        { version: connection.version, trainedOn },
        seededWords(n),
      ),
    );
    const key = connection.attributes[n] as Uint8Array;
    const { plan, upload } = granted(
      contributePaper({ suite: nodeSuite, randomBytes, sealing }, connection, key, {
        alpha: input.alpha,
        modulus: FIELD,
      }),
    );
    const terms = plan.terms.map(({ seed, sign }: MaskTerm) => ({ seed: hex(seed.reveal()), sign }));
    const masked = input.vector.slice();
    applyMasksInPlace(masked, plan, tools);
    addInPlace(sum, masked, FIELD, tools.kernel);
    buffer = acceptPaperUpload(connected.state, user, upload, millis(1)).state;
    return {
      user: hex(user),
      trainedOn,
      ticket: hex(paperTicketCodec.encode(connection.ticket)),
      inbox: connection.inbox.map(hex),
      terms,
      input: [...input.vector],
      masked: [...masked],
      upload: hex(paperMessages(K, sealing).upload.encode(upload)),
    };
  });
  return {
    ctx: hex(buffer.ctx),
    serverKey: hex(signer.publicKey),
    version: 5,
    exponent: 0.5,
    users,
    sum: [...sum],
    alphaSum: buffer.alphaSum,
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

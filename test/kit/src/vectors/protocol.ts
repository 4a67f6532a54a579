/** Whole buffers and batches as vectors: `paper`, `one-shot`, tokens of devices, and epoch keys to refuse. */
import {
  addInPlace,
  applyMasksInPlace,
  ascii,
  FIELD,
  type MaskTerm,
  toHex,
  unsafeTransparentSealing,
} from '@basa/masking';
import { type Ctx, granted, millis, type UserId } from '@basa/protocol';
import { acceptPaperUpload, connectPaper, unsafePaperBuffer } from '@basa/protocol/internal/paper/server.ts';
import { enrolmentHash, enrolmentProof } from '@basa/protocol/internal/wire/devices.ts';
import { contributePaper, PaperTicket, paperInput, paperMessages } from '@basa/protocol/paper';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { seededWords } from '@basa/simulator/node';
import { wasmTools } from '../core/tools.ts';
import { oneShotVector } from './one-shot.ts';

/** Positions of the paper-mode buffer. */
const K = 3;

export function protocolVectors(): object {
  return {
    about: 'Written by `npm run write -- vectors`; checked by conformance/vectors/check.py.',
    paper: [paperVector()],
    oneShot: [
      oneShotVector('one authority', 1),
      oneShotVector('3 of 4 authorities, of which one may collude', 4),
      oneShotVector('ML-KEM, with one authority', 1, 'x25519+mlkem768'),
    ],
    enrolment: enrolmentVectors(),
    refusedKeys: refusedKeys(),
  };
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
    const terms = plan.terms.map(({ seed, sign }: MaskTerm) => ({ seed: toHex(seed.reveal()), sign }));
    const masked = input.vector.slice();
    applyMasksInPlace(masked, plan, tools);
    addInPlace(sum, masked, FIELD, tools.kernel);
    buffer = acceptPaperUpload(connected.state, user, upload, millis(1)).state;
    return {
      user: toHex(user),
      trainedOn,
      ticket: toHex(PaperTicket.encode(connection.ticket)),
      inbox: connection.inbox.map(toHex),
      terms,
      input: [...input.vector],
      masked: [...masked],
      upload: toHex(paperMessages(K, sealing).upload.encode(upload)),
    };
  });
  return {
    ctx: toHex(buffer.ctx),
    serverKey: toHex(signer.publicKey),
    version: 5,
    exponent: 0.5,
    users,
    sum: [...sum],
    alphaSum: buffer.alphaSum,
  };
}

/** Tokens of devices, and what the owner of each authority sees and registers of them. */
function enrolmentVectors(): readonly object[] {
  const keys = ['one owner', 'another owner'].map((name) => createNodeSigner(nodeSuite.sha256(ascii(name))).publicKey);
  return ['a device', 'another device'].flatMap((name) => {
    const token = nodeSuite.sha256(ascii(name));
    return keys.map((key) => ({
      token: toHex(token),
      authority: toHex(key),
      proof: toHex(enrolmentProof(nodeSuite, token, key)),
      hash: toHex(enrolmentHash(nodeSuite, token, key)),
    }));
  });
}

export interface RefusedKey {
  readonly why: string;
  readonly key: string;
}

const PRIME = 2n ** 255n - 19n;
const ORDER_8 = 325606250916557431795983626356110631294008115727848805560023387167927233504n;
const OTHER_ORDER_8 = 39382357235489614581723060781553021112529911719440698176882885853963445705823n;

/** X25519 keys that nothing may be sealed to: points of small order, second encodings of a point, and bytes that are no point at all. */
function refusedKeys(): readonly RefusedKey[] {
  const good = nodeSuite.x25519(nodeSuite.sha256(ascii('a good epoch key'))).publicKey;
  const points: readonly (readonly [why: string, u: bigint])[] = [
    ['of order 2', 0n],
    ['of order 4', 1n],
    ['of order 8', ORDER_8],
    ['of order 8, the other one', OTHER_ORDER_8],
    ['of order 4 on the twist', PRIME - 1n],
    ['0 written as p', PRIME],
    ['1 written as p + 1', PRIME + 1n],
    ['9 written as p + 9', PRIME + 9n],
  ];
  return [
    ...points.map(([why, u]) => ({ why, key: toHex(point(u)) })),
    { why: 'with the highest bit set', key: toHex(good.map((byte, n) => (n === 31 ? byte | 0x80 : byte))) },
    { why: 'a byte short', key: toHex(good.subarray(1)) },
  ];
}

function point(u: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, n) => Number((u >> BigInt(8 * n)) & 0xffn));
}

/** Whole buffers and batches as vectors: `paper`, `one-shot`, tokens of devices, and epoch keys to refuse. */

import { addInPlace, applyMasksInPlace, FIELD, type MaskTerm, unsafeTransparentSealing } from '@basa/masking';
import { type Ctx, granted, millis, type UserId } from '@basa/protocol';
import { acceptPaperUpload, connectPaper, unsafePaperBuffer } from '@basa/protocol/internal/paper/server.ts';
import { contributePaper, PaperTicket, paperInput, paperMessages } from '@basa/protocol/paper';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { seededWords } from '@basa/simulator/node';
import { wasmTools } from '../core/tools.ts';
import { enrolmentVectors } from './enrolment.ts';
import { refusedKeys } from './epoch-keys.ts';
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
    const terms = plan.terms.map(({ seed, sign }: MaskTerm) => ({ seed: hex(seed.reveal()), sign }));
    const masked = input.vector.slice();
    applyMasksInPlace(masked, plan, tools);
    addInPlace(sum, masked, FIELD, tools.kernel);
    buffer = acceptPaperUpload(connected.state, user, upload, millis(1)).state;
    return {
      user: hex(user),
      trainedOn,
      ticket: hex(PaperTicket.encode(connection.ticket)),
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

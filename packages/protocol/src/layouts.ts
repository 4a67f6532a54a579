/** Every layout that is sent, signed or hashed, with its signer. docs/wire-format.md is written from this table (`npm run write -- layouts`). */
import { pieceStatementCodec, requestStatementCodec } from './http/requests.ts';
import { partContextCodec } from './one-shot/parts.ts';
import { attributeCodec, paperMessages, paperTicketCodec, sealingContextCodec } from './paper/messages.ts';
import type { Layout } from './wire/codec.ts';
import { voteCodec } from './wire/council.ts';
import { certificateCodec, deviceExportCodec, revocationsCodec } from './wire/devices.ts';
import { MAX_POSITIONS } from './wire/fields.ts';
import {
  batchVoteRequestCodec,
  inspectAnswerCodec,
  inspectRequestCodec,
  maskSumCodec,
  releaseAnswerCodec,
  releaseRequestCodec,
} from './wire/messages.ts';
import { epochCodec, liveEpochsCodec, modelStatementCodec, shownModelCodec } from './wire/model.ts';
import { policyCodec } from './wire/policy.ts';
import { batchCodec, givenVersionCodec, partHashesCodec, shotHeaderCodec, shotUploadCodec } from './wire/upload.ts';

export interface PublishedLayout {
  readonly layout: Layout;
  /** Or its use, if nobody signs it. */
  readonly signer: 'device' | 'server' | 'authority' | 't authorities' | 'not signed' | 'only hashed';
}

/** A seed that CP-ABE sealed (packages/abe/README.md). */
const SEALED_SEED_BYTES = 240;
const paper = paperMessages(MAX_POSITIONS, { sealedBytes: SEALED_SEED_BYTES });

export const LAYOUTS: readonly PublishedLayout[] = [
  { layout: policyCodec, signer: 'only hashed' },
  { layout: certificateCodec, signer: 't authorities' },
  { layout: revocationsCodec, signer: 'authority' },
  { layout: deviceExportCodec, signer: 'authority' },
  { layout: requestStatementCodec, signer: 'device' },
  { layout: pieceStatementCodec, signer: 'device' },
  { layout: epochCodec, signer: 'authority' },
  { layout: liveEpochsCodec, signer: 'not signed' },
  { layout: modelStatementCodec, signer: 'server' },
  { layout: shownModelCodec, signer: 'not signed' },
  { layout: partContextCodec, signer: 'only hashed' },
  { layout: partHashesCodec, signer: 'only hashed' },
  { layout: shotHeaderCodec, signer: 'device' },
  { layout: shotUploadCodec, signer: 'not signed' },
  { layout: inspectRequestCodec, signer: 'server' },
  { layout: inspectAnswerCodec, signer: 'authority' },
  { layout: batchCodec, signer: 'only hashed' },
  { layout: givenVersionCodec, signer: 'only hashed' },
  { layout: batchVoteRequestCodec, signer: 'server' },
  { layout: voteCodec, signer: 't authorities' },
  { layout: releaseRequestCodec, signer: 'server' },
  { layout: maskSumCodec, signer: 'authority' },
  { layout: releaseAnswerCodec, signer: 'not signed' },
  { layout: attributeCodec, signer: 'only hashed' },
  { layout: sealingContextCodec, signer: 'not signed' },
  { layout: paperTicketCodec, signer: 'server' },
  { layout: paper.connectAnswer, signer: 'not signed' },
  { layout: paper.upload, signer: 'not signed' },
];

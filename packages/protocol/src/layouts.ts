/** Every layout that is sent, signed or hashed, with its signer. docs/wire-format.md is written from this table (`npm run write -- layouts`). */
import { pieceStatementCodec, requestStatementCodec } from './http/requests.ts';
import { partContextCodec } from './one-shot/parts.ts';
import { attributeCodec, PaperTicket, paperMessages, sealingContextCodec } from './paper/messages.ts';
import type { Layout } from './wire/codec.ts';
import { Vote } from './wire/council.ts';
import { Certificate, DeviceExport, Revocations } from './wire/devices.ts';
import { MAX_POSITIONS } from './wire/fields.ts';
import {
  BatchVoteRequest,
  InspectAnswer,
  InspectRequest,
  MaskSum,
  ReleaseAnswer,
  ReleaseRequest,
} from './wire/messages.ts';
import { Epoch, LiveEpochs, ModelStatement, ShownModel } from './wire/model.ts';
import { TaskPolicy } from './wire/policy.ts';
import { Batch, givenVersionCodec, partHashesCodec, ShotHeader, ShotUpload } from './wire/upload.ts';

export interface PublishedLayout {
  readonly layout: Layout;
  /** Or its use, if nobody signs it. */
  readonly signer: 'device' | 'server' | 'authority' | 't authorities' | 'not signed' | 'only hashed';
}

/** A seed that CP-ABE sealed (packages/abe/README.md). */
const SEALED_SEED_BYTES = 240;
const paper = paperMessages(MAX_POSITIONS, { sealedBytes: SEALED_SEED_BYTES });

export const LAYOUTS: readonly PublishedLayout[] = [
  { layout: TaskPolicy, signer: 'only hashed' },
  { layout: Certificate, signer: 't authorities' },
  { layout: Revocations, signer: 'authority' },
  { layout: DeviceExport, signer: 'authority' },
  { layout: requestStatementCodec, signer: 'device' },
  { layout: pieceStatementCodec, signer: 'device' },
  { layout: Epoch, signer: 'authority' },
  { layout: LiveEpochs, signer: 'not signed' },
  { layout: ModelStatement, signer: 'server' },
  { layout: ShownModel, signer: 'not signed' },
  { layout: partContextCodec, signer: 'only hashed' },
  { layout: partHashesCodec, signer: 'only hashed' },
  { layout: ShotHeader, signer: 'device' },
  { layout: ShotUpload, signer: 'not signed' },
  { layout: InspectRequest, signer: 'server' },
  { layout: InspectAnswer, signer: 'authority' },
  { layout: Batch, signer: 'only hashed' },
  { layout: givenVersionCodec, signer: 'only hashed' },
  { layout: BatchVoteRequest, signer: 'server' },
  { layout: Vote, signer: 't authorities' },
  { layout: ReleaseRequest, signer: 'server' },
  { layout: MaskSum, signer: 'authority' },
  { layout: ReleaseAnswer, signer: 'not signed' },
  { layout: attributeCodec, signer: 'only hashed' },
  { layout: sealingContextCodec, signer: 'not signed' },
  { layout: PaperTicket, signer: 'server' },
  { layout: paper.connectAnswer, signer: 'not signed' },
  { layout: paper.upload, signer: 'not signed' },
];

/** An upload that its own device changed after it was made: another body, or other words in its header. */
import type { Signer } from '@basa/masking';
import type { ShotHeaderBody } from '@basa/protocol/internal/wire/upload.ts';
import type { TaskPolicy } from '@basa/protocol/policy';
import { heldParts, partsHashOf, ShotHeader, type ShotUpload, shotLayout } from '@basa/protocol/wire';
import { nodeCrc32, nodeSuite } from '@basa/runtime/node';

export function resigned(
  policy: TaskPolicy,
  signer: Pick<Signer, 'sign'>,
  upload: ShotUpload,
  body: Uint8Array,
  change: Partial<ShotHeaderBody> = {},
): ShotUpload {
  const { signature: _, ...before } = upload.header;
  const sealed = body.subarray(shotLayout(policy, before.epochs).vectorBytes);
  // Undefined for bytes that are no such parts: then the header names others.
  const partsHash = partsHashOf(nodeSuite, heldParts(policy, before.epochs), sealed) ?? before.partsHash;
  const header = { ...before, partsHash, ...change };
  const signature = signer.sign(ShotHeader.statement(header));
  return { ...upload, header: { ...header, signature }, bodyBytes: body.length, bodyCrc: nodeCrc32(body) };
}

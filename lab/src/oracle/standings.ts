/** Statements of authorities as devices are shown them, changed by the adversary. */

import type { Signer } from '@basa/masking';
import { type Epoch, type EpochBody, epochCodec, standingsCodec } from '@basa/protocol';

/** The same statements, in which some authorities have other epochs, signed again by `signerOf` them. */
export function withEpochs(
  shown: Uint8Array,
  change: (epoch: Epoch) => Partial<EpochBody>,
  signerOf: (authority: number) => Signer | undefined,
): Uint8Array {
  const { standings, ...rest } = standingsCodec.decode(shown);
  const changed = standings.map((standing) => {
    const signer = signerOf(standing.authority);
    if (signer === undefined) return standing;
    const body = { ...standing.epoch, ...change(standing.epoch) };
    return { ...standing, epoch: { ...body, signature: signer.sign(epochCodec.statement(body)) } };
  });
  return standingsCodec.encode({ ...rest, standings: changed });
}

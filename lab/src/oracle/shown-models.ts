/** Models as devices are shown them, with epochs that the adversary changed. */

import type { Signer } from '@basa/masking';
import type { EpochBody } from '@basa/protocol/internal/wire/model.ts';
import { type Epoch, epochCodec, modelStatementCodec, shownModelCodec } from '@basa/protocol/wire';

/** The same parameters as the next model, signed by anybody. */
export async function otherModel(
  shown: Uint8Array,
  signer: { sign(statement: Uint8Array): Uint8Array | Promise<Uint8Array> },
): Promise<Uint8Array> {
  const { statement, epochs } = shownModelCodec.decode(shown);
  const body = { ...statement, serial: statement.serial + 1 };
  const signature = await signer.sign(modelStatementCodec.statement(body));
  return shownModelCodec.encode({ statement: { ...body, signature }, epochs });
}

/** The same model, with other epochs of some authorities, signed again by `signerOf` them. */
export function withEpochs(
  shown: Uint8Array,
  change: (epoch: Epoch) => Partial<EpochBody>,
  signerOf: (authority: number) => Signer | undefined,
): Uint8Array {
  const { statement, epochs } = shownModelCodec.decode(shown);
  const changed = epochs.map((epoch) => {
    const signer = signerOf(epoch.authority);
    if (signer === undefined) return epoch;
    const body = { ...epoch, ...change(epoch) };
    return { ...body, signature: signer.sign(epochCodec.statement(body)) };
  });
  return shownModelCodec.encode({ statement, epochs: changed });
}

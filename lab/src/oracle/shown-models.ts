/** Models as devices are shown them, with epochs that the adversary changed. */

import type { Signer } from '@basa/masking';
import type { EpochBody } from '@basa/protocol/internal/wire/model.ts';
import { Epoch, ModelStatement, ShownModel } from '@basa/protocol/wire';

/** The same parameters as the next model, signed by anybody. */
export async function otherModel(
  shown: Uint8Array,
  signer: { sign(statement: Uint8Array): Uint8Array | Promise<Uint8Array> },
): Promise<Uint8Array> {
  const { statement, epochs } = ShownModel.decode(shown);
  const body = { ...statement, serial: statement.serial + 1 };
  const signature = await signer.sign(ModelStatement.statement(body));
  return ShownModel.encode({ statement: { ...body, signature }, epochs });
}

/** The same model, with other epochs of some authorities, signed again by `signerOf` them. */
export function withEpochs(
  shown: Uint8Array,
  change: (epoch: Epoch) => Partial<EpochBody>,
  signerOf: (authority: number) => Signer | undefined,
): Uint8Array {
  const { statement, epochs } = ShownModel.decode(shown);
  const changed = epochs.map((epoch) => {
    const signer = signerOf(epoch.authority);
    if (signer === undefined) return epoch;
    const body = { ...epoch, ...change(epoch) };
    return { ...body, signature: signer.sign(Epoch.statement(body)) };
  });
  return ShownModel.encode({ statement, epochs: changed });
}

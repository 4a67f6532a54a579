/** Lies in a task of four authorities, of which three are needed: each would be the truth if two of them were enough. */
import { certificateCodec, drawnBufferCodec, receiptCodec } from '@basa/protocol';
import type { ServiceProxy } from '../service-proxy.ts';
import { changingKeys } from './key-lies.ts';
import { changing, type Lie, STRANGER, signedBy } from './lie.ts';

export const COUNCIL_SIZE = 4;
/** Whose word is forged: the other two are too few. */
const FORGED = [0, 2];

export function councilLies(): readonly Lie[] {
  return [
    {
      name: 'refuses a certificate that too few of several authorities signed',
      before: 'seat',
      authorities: COUNCIL_SIZE,
      tell: ({ authorities }) => {
        for (const at of FORGED)
          changing(authorities[at] as ServiceProxy, /\/enrolments$/, (body) => {
            const certificate = certificateCodec.decode(body);
            const endorsements = signedBy(STRANGER, certificateCodec, certificate, at);
            return certificateCodec.encode({ ...certificate, endorsements });
          });
      },
    },
    {
      name: 'refuses a descriptor with a part that its owner did not sign',
      before: 'deposit',
      authorities: COUNCIL_SIZE,
      // The three signatures that are left are good, and enough for anything else.
      tell: ({ server }) =>
        changing(server, /\/seats$/, (body) => {
          const { descriptor, slotKeys } = drawnBufferCodec.decode(body);
          const { parts, endorsements } = descriptor;
          if (parts.length < COUNCIL_SIZE)
            throw new Error(`a buffer of ${parts.length} authorities, though all are up`);
          return drawnBufferCodec.encode({
            descriptor: { ...descriptor, endorsements: endorsements.slice(0, -1) },
            slotKeys,
          });
        }),
    },
    {
      name: 'refuses a slot with the receipts of too few of several authorities',
      before: 'upload',
      authorities: COUNCIL_SIZE,
      tell: (scene) => {
        for (const at of FORGED)
          changingKeys(
            scene,
            (answer) => {
              const { receipt } = answer;
              return {
                ...answer,
                receipt: { ...receipt, endorsements: signedBy(STRANGER, receiptCodec, receipt, at) },
              };
            },
            at,
          );
      },
    },
  ];
}

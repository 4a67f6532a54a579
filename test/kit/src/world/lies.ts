/** Authorities of a world that sign wrong sums of masks. */
import { concatBytes } from '@basa/masking';
import { frameHeader, MaskSum, ReleaseAnswer, ReleaseRequest, shotLayout, unframeHeader } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import type { World } from './world.ts';

const MAX_HEAD_BYTES = 65_536;

/** Each authority for which `isLiar` holds adds one to a word of every sum, and signs that; the place is that of a byte, from the end if it is negative. */
export function lieAboutSums(world: World, isLiar: (index: number) => boolean, place = 0): void {
  world.wire.readers.push(({ host, path, body: asked }, { body, status, headers }) => {
    const liar = world.authorities.find((party) => party.host === host && isLiar(party.index));
    if (liar === undefined || asked === undefined || status !== 200 || !path.endsWith('/releases')) return undefined;
    const { header, bodyStart } = unframeHeader(body, MAX_HEAD_BYTES);
    const { vectorBytes } = shotLayout(world.policy, []);
    const { wanted } = ReleaseRequest.decode(asked);
    let start = bodyStart;
    const vectors: Uint8Array[] = [];
    const sums = ReleaseAnswer.decode(header).sums.map(({ signature: _, ...sum }, n) => {
      const vector = wanted[n]?.vector === true ? body.slice(start, start + vectorBytes) : sum.hash.slice();
      const at = place < 0 ? vector.length + place : place;
      vector[at] = (vector[at] as number) ^ 1;
      if (wanted[n]?.vector === true) {
        start += vectorBytes;
        vectors.push(vector);
      }
      const told = { ...sum, hash: nodeSuite.sha256(vector) };
      return { ...told, signature: liar.signer.sign(MaskSum.statement(told)) };
    });
    return { status, headers, body: concatBytes(frameHeader(ReleaseAnswer.encode({ sums })), ...vectors) };
  });
}

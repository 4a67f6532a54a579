/** Answers that a backend must give before it is used, so that another version or build of the library cannot differ silently. */
import { ascii, equalBytes } from '@basa/masking';
import { G1_BYTES, type Group } from './group.ts';

/** Generators of the BLS12-381 standard (draft-irtf-cfrg-pairing-friendly-curves, 4.2.1), compressed. */
export const G1_GENERATOR =
  '97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb';
export const G2_GENERATOR =
  '93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e' +
  '024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8';

/** H("known answer"), and the first coefficient of e(g1, g2). Both from noble. */
const HASHED = 'b06f3c24815f58e0cd8d8cd7f6debde7ee17bbcc2712be120b8ab63bd58baaba1ec8d052643eadf83b4c7f7eaf42ed58';
const PAIRED = '1250ebd871fc0a92a7b2d83168d0d727272d441befa15c503dd8e90ce98db3e7b6d194f60839c508a84305aaca1789b6';

export function checkKnownAnswers(group: Group): void {
  const { g1, g2, gt } = group;
  const hashed = g1.encode(group.hashToG1(ascii('known answer')));
  const paired = gt.encode(group.pairingProduct([{ g1: g1.generator, g2: g2.generator }])).subarray(0, G1_BYTES);
  const isRight =
    equalBytes(g1.encode(g1.generator), hexBytes(G1_GENERATOR)) &&
    equalBytes(g2.encode(g2.generator), hexBytes(G2_GENERATOR)) &&
    equalBytes(hashed, hexBytes(HASHED)) &&
    equalBytes(paired, hexBytes(PAIRED));
  if (!isRight) throw new Error(`the ${group.name} backend fails its known-answer test`);
}

export function hexBytes(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

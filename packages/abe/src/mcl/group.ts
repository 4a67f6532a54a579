/** The default backend: mcl in WebAssembly. */
import { ascii } from '@basa/masking';
import { ATTRIBUTE_DST, type G1, type Group } from '../group.ts';
import { checkKnownAnswers } from '../known-answers.ts';
import { call } from './calls.ts';
import { makeElement } from './elements.ts';
import { loadMcl, type MclModule, SIZE } from './module.ts';
import { pointsOf } from './points.ts';
import { scalarsOf } from './scalars.ts';
import { pairingProduct, targetGroupOf } from './target.ts';

const DST = ascii(ATTRIBUTE_DST);

/** Loads mcl, sets it up and checks known answers before anything else uses it. One instance for each thread is enough. */
export async function createMclGroup(): Promise<Group> {
  const mcl = await loadMcl();
  const group: Group = {
    name: 'mcl',
    scalars: scalarsOf(mcl),
    g1: pointsOf(mcl, 'g1'),
    g2: pointsOf(mcl, 'g2'),
    gt: targetGroupOf(mcl),
    hashToG1: (message) => hashToG1(mcl, message),
    pairingProduct: (pairs) => pairingProduct(mcl, pairs),
  };
  checkKnownAnswers(group);
  return group;
}

function hashToG1(mcl: MclModule, message: Uint8Array): G1 {
  const { words, returned } = call(mcl, SIZE.g1, [message, DST], (result, messageAt = 0, dstAt = 0) =>
    mcl._mclBnG1_hashAndMapToWithDst(result, messageAt, message.length, dstAt, DST.length),
  );
  if (returned !== 0) throw new Error('mcl could not hash to G1');
  return makeElement('g1', words);
}

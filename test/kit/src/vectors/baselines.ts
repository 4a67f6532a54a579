/** Test vectors of the baselines: tiny sums of SecAgg and LightSecAgg from fixed randomness, with a drop-out each. */
import {
  type AggregationTools,
  LightSecAggServer,
  LightSecAggUser,
  MaskCode,
  plainCombinationKernel,
  primeField,
  SecAggServer,
  SecAggUser,
  secAggParameters,
} from '@basa/baselines';
import {
  addInPlace,
  applyMasksInPlace,
  FIELD,
  FIELD_PRIME,
  type Modulus,
  plainVectorKernel,
  type RandomBytes,
  subtractInPlace,
  toHex,
} from '@basa/masking';
import { createNodeKeystream, nodeSuite } from '@basa/runtime/node';

const masks = { suite: nodeSuite, kernel: plainVectorKernel(), keystream: createNodeKeystream() };

export function baselineVectors(): object {
  return {
    about:
      'Written by `npm run write -- vectors`; checked by the tests and, independently, by conformance/vectors/check.py.',
    secagg: [secAggVector()],
    lightsecagg: [lightSecAggVector()],
  };
}

/** Reproducible randomness, and the bytes drawn from it. */
function drawing(label: string): { readonly randomBytes: RandomBytes; readonly drawn: string[] } {
  const drawn: string[] = [];
  const randomBytes = (length: number): Uint8Array => {
    const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, block) =>
      nodeSuite.sha256(Buffer.from(`basa vector ${label} ${drawn.length} ${block}`)),
    );
    const bytes = new Uint8Array(Buffer.concat(blocks)).slice(0, length);
    drawn.push(toHex(bytes));
    return bytes;
  };
  return { randomBytes, drawn };
}

function granted<Answer extends object>(answer: Answer): Exclude<Answer, { readonly kind: 'refused' }> {
  if ('kind' in answer && answer.kind === 'refused') throw new Error(JSON.stringify(answer));
  return answer as Exclude<Answer, { readonly kind: 'refused' }>;
}

const INPUTS = [
  [1, 2, 3, 4, 5],
  [10, 20, 30, 40, 50],
  [FIELD_PRIME - 1, 0, 7, 0, 1],
  [100, 0, 0, 200, FIELD_PRIME - 300],
];

/** Four users, t = 3; user 1 leaves between shares and input. */
function secAggVector(): object {
  const dropped = 1;
  const session = nodeSuite.sha256(Buffer.from('basa vector secagg session'));
  const modulus: Modulus = FIELD;
  const parameters = secAggParameters(INPUTS.length, { session, modulus });
  const draws = INPUTS.map((_, id) => drawing(`secagg user ${id}`));
  const users = draws.map(({ randomBytes }, id) => new SecAggUser(id, parameters, { suite: nodeSuite, randomBytes }));
  const server = new SecAggServer(parameters, { suite: nodeSuite, randomBytes: drawing('secagg server').randomBytes });
  for (const user of users) server.receiveKeys(user.advertise());
  const rosters = granted(server.closeKeys());
  const shares = users.map((user) => granted(user.share(rosters.rosterOf(user.id))).shares);
  for (const [id, made] of shares.entries()) server.receiveShares(id, made);
  const inboxes = granted(server.closeShares());
  const sum = new Uint32Array(INPUTS[0]?.length ?? 0);
  const masked = users.map((user) => {
    if (user.id === dropped) return undefined;
    const { plan } = granted(user.mask(inboxes.inboxOf(user.id)));
    const y = Uint32Array.from(INPUTS[user.id] as number[]);
    applyMasksInPlace(y, plan, masks);
    server.receiveMasked(user.id);
    addInPlace(sum, y, modulus, masks.kernel);
    return [...y];
  });
  const asked = granted(server.closeInputs());
  const answers = users.map((user) => {
    if (user.id === dropped) return undefined;
    const { revealed } = granted(user.answer(asked.survivorsFor(user.id)));
    server.receiveAnswer(user.id, revealed);
    return revealed.map(({ about, of, share }) => ({ about, of, share: toHex(share.reveal()) }));
  });
  applyMasksInPlace(sum, granted(server.open()).plan, masks);
  return {
    session: toHex(session),
    threshold: parameters.threshold,
    users: users.map((user, id) => {
      const { channelKey, maskKey } = user.advertise();
      const [channelSecret, maskSecret, selfSeed] = draws[id]?.drawn ?? [];
      return {
        ...{ channelSecret, maskSecret, selfSeed, channelKey: toHex(channelKey), maskKey: toHex(maskKey) },
        shares: shares[id]?.map(({ peer, sealed }) => ({ peer, sealed: toHex(sealed) })),
        ...(id === dropped ? {} : { input: INPUTS[id], masked: masked[id], answer: answers[id] }),
      };
    }),
    sum: [...sum],
  };
}

/** N = 4, U = 3, T = 1 with a buffer of three: user 3 does not upload, user 0 does not answer. */
function lightSecAggVector(): object {
  const code = { users: 4, survivors: 3, privacy: 1 };
  const dimension = INPUTS[0]?.length ?? 0;
  const session = nodeSuite.sha256(Buffer.from('basa vector lightsecagg session'));
  const parameters = { ...code, session, dimension, fewest: 3 };
  const maskCode = new MaskCode(code, primeField(FIELD_PRIME));
  const combinations = plainCombinationKernel();
  const draws = INPUTS.map((_, id) => drawing(`lightsecagg user ${id}`));
  const users = draws.map(({ randomBytes }, id) => {
    const tools: AggregationTools = { masks, combinations, randomBytes };
    return new LightSecAggUser(id, parameters, maskCode, tools);
  });
  for (const user of users) user.connect(users.map((peer) => peer.advertise()));
  const entries = [0, 1, 2].map((user) => ({ user, stamp: 40 - 3 * user, weight: [64, 37, 1][user] as number }));
  const shares = entries.map(({ user, stamp }) => (users[user] as LightSecAggUser).encodeMask(stamp));
  for (const [from, made] of shares.entries()) {
    const { stamp } = entries[from] as (typeof entries)[number];
    for (const { peer, sealed } of made) users[peer]?.receiveShare({ peer: from, sealed }, stamp);
  }
  const server = new LightSecAggServer(parameters, maskCode);
  const masked = entries.map((entry) => {
    const y = Uint32Array.from(INPUTS[entry.user] as number[]);
    users[entry.user]?.maskInPlace(y, entry.stamp);
    server.receiveMasked(entry);
    return y;
  });
  const asked = granted(server.close()).entries;
  const answers = [1, 2, 3].map((id) => {
    const { share } = granted((users[id] as LightSecAggUser).answer(asked));
    server.receiveAnswer(id, share);
    return { user: id, share: [...share] };
  });
  const sum = new Uint32Array(dimension);
  combinations.combine([Uint32Array.from(entries, ({ weight }) => weight)], masked, [sum]);
  subtractInPlace(sum, granted(server.open(combinations)).mask, FIELD, masks.kernel);
  return {
    session: toHex(session),
    ...code,
    parties: users.map((user, id) => {
      const [channelSecret, seed] = draws[id]?.drawn ?? [];
      return { channelSecret, channelKey: toHex(user.advertise().channelKey), ...(id < 3 ? { seed } : {}) };
    }),
    updates: entries.map((entry, n) => ({
      ...entry,
      input: INPUTS[n],
      shares: shares[n]?.map(({ peer, sealed }) => ({ peer, sealed: toHex(sealed) })),
      masked: [...(masked[n] ?? [])],
    })),
    answers,
    sum: [...sum],
  };
}

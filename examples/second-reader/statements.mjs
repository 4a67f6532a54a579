// Which statements count: signatures of t authorities, and a policy and a descriptor that a device can take.
import { must, rising } from './bytes.mjs';
import { isSigned } from './keys.mjs';
import { ENGINE } from './layouts.mjs';
import { groupOf, stalenessWeight, weightLimit } from './masks.mjs';
import { varianceOf } from './noise.mjs';

const goodSignatures = (statement, { keys }) =>
  statement.signatures.every(
    ({ authority, signature }) => authority < keys.length && isSigned(keys[authority], statement.words, signature),
  );

/** Whether an endorsed statement has the good signatures of t authorities, and no other. */
export const countsWith = (statement, authorities) =>
  statement.signatures.length >= authorities.t && goodSignatures(statement, authorities);

/** Of several answers the one that t say in the same words, or undefined. */
export const agreeing = (said, t) =>
  said.find((one) => said.filter((other) => other.words.equals(one.words)).length >= t);

/** The same statement from several authorities, each with its own signature, as one. */
export function joined(layout, given, authorities) {
  const good = given.filter((one) => goodSignatures(one, authorities));
  const agreed = agreeing(good, authorities.t);
  must(agreed !== undefined, 'a statement that fewer than t authorities sign in the same words');
  const signatures = good.filter((one) => one.words.equals(agreed.words)).flatMap((one) => one.signatures);
  return layout.withSignatures(
    agreed.words,
    signatures.sort((one, other) => one.authority - other.authority),
  );
}

export function checkPolicy(policy, authorities) {
  const { keys, t, unsafeThreshold } = policy.authorities;
  must(
    keys.length === authorities.length && keys.every((key, a) => key.equals(authorities[a].publicKey)),
    'other authorities',
  );
  must(t >= 1 && t <= keys.length, 'a threshold out of range');
  if (keys.length > 1)
    must(policy.engine === ENGINE.slotKeys && 2 * t > keys.length + 1 && unsafeThreshold === 0, 'a weak threshold');
  must(policy.engine === ENGINE.slotKeys || policy.engine === ENGINE.cpAbe, 'an engine that seals nothing');
  must(policy.Kmin >= 2 && policy.Kmin <= policy.K && policy.K <= 1024, 'a buffer of another size');
  const { q } = groupOf(policy.group);
  must(policy.K * Math.ceil(policy.level * policy.clip) <= Math.floor((q - 1) / 2), 'sums that could wrap around');
  must(2 * policy.maxStaleness * policy.K < q, 'ages that could wrap around');
  must(policy.level > 0 && policy.clip > 0 && policy.d > 0, 'nothing to add up');
  const oldest = stalenessWeight(policy.staleness, policy.maxStaleness);
  must(oldest >= 1 / 4 || policy.unsafeTinyWeights === 1, 'weights so small that the sum shows the others');
  if (policy.privacy.kind === 1) checkPrivacy(policy, q);
}

function checkPrivacy(policy, q) {
  const { K, Kmin, level, clip, d, privacy, metrics, blockFloor } = policy;
  must(privacy.colluders + 2 <= Kmin && level * clip >= 2 * Math.sqrt(d), 'a private task that hides too little');
  const deviation = Math.sqrt(varianceOf(policy));
  must(deviation >= 4 && deviation <= 65536, 'noise that cannot be drawn');
  must(
    K * Math.ceil(level * clip) + 10 * deviation * Math.sqrt(K) <= Math.floor((q - 1) / 2),
    'noisy sums that could wrap around',
  );
  must(metrics.length === 0 && blockFloor === 0, 'a private task with metrics or a block floor');
}

/** The descriptor says what the policy says; of parts and times it says what the page allows. */
export function checkDescriptor(descriptor, policy, task) {
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const shared = [
    'authorities',
    'engine',
    'K',
    'd',
    'group',
    'level',
    'clip',
    'blockFloor',
    'staleness',
    'maxStaleness',
  ];
  for (const name of [...shared, 'unsafeTinyWeights', 'metrics', 'privacy', 'manifest', 'server', 'uploadLeaseMs']) {
    must(same(descriptor[name], policy[name]), `a descriptor with another ${name}`);
  }
  must(
    descriptor.task.equals(task) && descriptor.Kmin >= policy.Kmin && descriptor.Kmin <= policy.K,
    'a descriptor of another task',
  );
  must(descriptor.W === weightLimit(groupOf(policy.group).q, policy.K), 'another limit of weights');
  const owners = descriptor.parts.map((part) => part.authority);
  must(
    rising(owners) &&
      same(
        owners,
        descriptor.signatures.map((one) => one.authority),
      ),
    'parts that their owners did not sign',
  );
  must(countsWith(descriptor, policy.authorities), 'a descriptor that does not count');
  const { expiry, closeBy } = descriptor;
  const isDue = expiry > Date.now() && expiry <= Date.now() + policy.openMs + 300_000;
  must(isDue && closeBy === expiry + policy.closeMs, 'a descriptor out of its time');
}

/** Changes of the core that change nothing anybody could see, each with its reason: no test can notice them. */
import type { Mutant } from './mutants.ts';

interface Equivalent {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  readonly why: string;
}

const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'authority/close.ts',
    before: '!equalBytes(request.ctx, buffer.ctx)',
    after: 'false',
    why: 'the buffer was looked up by this ctx',
  },
  {
    file: 'authority/close.ts',
    before: 'deposits.length > descriptor.bufferSize',
    after: 'false',
    why: 'a longer list has no encoding, so nobody can have signed it',
  },
  {
    file: 'authority/close.ts',
    before: 'slot >= deposits.length',
    after: '(slot > deposits.length)',
    why: 'isAsRegistered refuses a slot without a deposit, for the same reason',
  },
  {
    file: 'authority/close.ts',
    before: 'accepted.some((slot) => slot >= deposits.length)',
    after: 'accepted.every((slot) => slot >= deposits.length)',
    why: 'isAsRegistered refuses a slot without a deposit, for the same reason',
  },
  {
    file: 'authority/close.ts',
    before: 'issued === undefined || deposit === undefined',
    after: '(issued === undefined && deposit === undefined)',
    why: 'listProblem has refused a slot without a deposit',
  },
  {
    file: 'authority/state.ts',
    before: 'this.#branches.at(-1) ?? FIRST_BRANCH',
    after: '(this.#branches.at(-1) ?? undefined)',
    why: 'there is always a branch',
  },
  {
    file: 'authority/state.ts',
    before: 'sequence === this.#sequence',
    after: 'false',
    why: 'the log has the hash of its own length too: it only spares a look into it',
  },
  {
    file: 'authority/head.ts',
    before: 'branches.at(-1) ?? FIRST_BRANCH',
    after: '(branches.at(-1) ?? undefined)',
    why: 'there is always a branch',
  },
  {
    file: 'authority/head.ts',
    before: 'hashAt(sequence) ?? new Uint8Array(32)',
    after: '(hashAt(sequence) ?? undefined)',
    why: 'a log has the hash of its own length',
  },
  {
    file: 'authority/buffer.ts',
    before: 'entry.entry.version > 0',
    after: '(entry.entry.version >= 0)',
    why: 'version 0 names no buffer',
  },
  {
    file: 'authority/attribute-authority.ts',
    before: 'end < least',
    after: '(end <= least)',
    why: 'the least of two equal numbers is either',
  },
  {
    file: 'authority/issue-key.ts',
    before: 'no.slots ?? []',
    after: '(no.slots ?? undefined)',
    why: 'a contradiction always names its slots',
  },
  {
    file: 'server/void-edges.ts',
    before: 'size === 0',
    after: 'false',
    why: 'no slots touch no edge: the next line says so',
  },
  {
    file: 'authority/buffer.ts',
    before: 'entry.entry.version > 0',
    after: 'true',
    why: 'version 0 names no buffer',
  },
  {
    file: 'server/void-edges.ts',
    before: 'edges.length > size * edges.filter((edge) => edge.includes(busiest)).length',
    after: 'false',
    why: 'it only spares a search that finds nothing',
  },
  {
    file: 'server/void-edges.ts',
    before: 'edges.filter((edge) => edge.includes(busiest))',
    after: 'edges',
    why: 'it only spares a search that finds nothing',
  },
  {
    file: 'authority/task.ts',
    before: 'isAhead',
    after: 'true',
    why: 'the core applies the records of a step, not the state that comes with them',
  },
  {
    file: 'authority/task.ts',
    before: 'isAhead',
    after: 'false',
    why: 'the core applies the records of a step, not the state that comes with them',
  },
  {
    file: 'admission/come-back.ts',
    before: 'this.#since === undefined',
    after: 'false',
    why: 'the rate of nothing is no number then, which is not above 0 either',
  },
  {
    file: 'user/blocks.ts',
    before: 'residue <= capacity',
    after: '(residue < capacity)',
    why: 'K quantised entries fit into the capacity: none is as large as that',
  },
  {
    file: 'user/freshness.ts',
    before: 'other.version > newest.version',
    after: '(other.version >= newest.version)',
    why: 'two entries of one version that enough authorities signed are the same',
  },
  {
    file: 'wire/descriptor.ts',
    before: '8192 + ENDORSEMENT_BYTES',
    after: '(8192 - ENDORSEMENT_BYTES)',
    why: 'a bound of what is read at once: every descriptor is far below both',
  },
  {
    file: 'authority/attribute-authority.ts',
    before: 'indexOf(task.policy, this.publicKey) ?? 0',
    after: '(indexOf(task.policy, this.publicKey) ?? undefined)',
    why: 'a task names the authority that has it',
  },
  {
    file: 'authority/inclusions.ts',
    before: 'buffer.descriptor.privacy === undefined',
    after: 'false',
    why: 'nobody asks for the counts of a task that is not private: it only spares memory',
  },
  {
    file: 'wire/staleness.ts',
    before: 'tau <= staleness.grace',
    after: '(tau < staleness.grace)',
    why: 'at the end of the grace both are 1',
  },
  {
    file: 'user/noisy-update.ts',
    before: "rounded.kind === 'refused'",
    after: 'false',
    why: 'finite numbers are never refused',
  },
  {
    file: 'authority/device.ts',
    before: 'isKnown',
    after: 'false',
    why: 'a task that is twice in the list of a device is asked for once',
  },
  {
    file: 'server/secure-buffer.ts',
    before: "slot.status === 'assigned'",
    after: 'true',
    why: 'nobody asks for the grace of a slot that owes no upload',
  },
  {
    file: 'admission/place-controller.ts',
    before: 'used > state.maxUsed',
    after: '(used >= state.maxUsed)',
    why: 'the larger of two equal numbers is either',
  },
  {
    file: 'user/freshness.ts',
    before: 'seen?.version ?? 0',
    after: '(seen?.version ?? undefined)',
    why: 'no version is below 0, nor below nothing',
  },
  {
    file: 'wire/council.ts',
    before: 'all[n - 1]?.authority ?? -1',
    after: '(all[n - 1]?.authority ?? undefined)',
    why: 'no index is -1 or less, nor less than nothing',
  },
  {
    file: 'wire/fields.ts',
    before: 'i > 0',
    after: '(i >= 0)',
    why: 'nothing stands before the first, and nothing is below nothing',
  },
  {
    file: 'wire/fields.ts',
    before: 'out >= 0',
    after: '(out > 0)',
    why: 'the first is never out of order',
  },
  {
    file: 'wire/signed.ts',
    before: 'end < 0',
    after: '(end <= 0)',
    why: 'a signature alone is too short for a message as well, for the same error',
  },
  {
    file: 'wire/slot-sealing.ts',
    before: 'secret && made.has(secret)',
    after: '(secret || made.has(secret))',
    why: 'openWithSlotKeys holds each key to its part again',
  },
  {
    file: 'masking/src/shamir.ts',
    before: 'i < bytes.length',
    after: '(i <= bytes.length)',
    why: 'nothing is written past the end of an array of bytes',
  },
  {
    file: 'masking/src/shamir.ts',
    before: 'i < sum.length',
    after: '(i <= sum.length)',
    why: 'nothing is written past the end of an array of bytes',
  },
  {
    file: 'authority/state.ts',
    before: 'this.#tasks.get(toHex(certificate.task))?.id ?? certificate.task',
    after: '(this.#tasks.get(toHex(certificate.task))?.id ?? undefined)',
    why: 'devices are enrolled for tasks that are there',
  },
  {
    file: 'authority/state.ts',
    before: 'device === undefined',
    after: 'false',
    why: 'whoever is revoked was enrolled before',
  },
  {
    file: 'wire/codec.ts',
    before: 'write === undefined',
    after: 'true',
    why: 'the same bytes, with a copy more',
  },
  {
    file: 'wire/record-union.ts',
    before: 'byte === undefined',
    after: 'false',
    why: 'no record has no byte for its kind',
  },
  {
    file: 'wire/slot-sealing.ts',
    before: 'secret && made.has(secret)',
    after: 'true',
    why: 'openWithSlotKeys holds each key to its part again',
  },
  {
    file: 'masking/src/slot-key-list.ts',
    before: 'highest < 0x7f',
    after: '(highest <= 0x7f)',
    why: 'it is not 0x7f there',
  },
  {
    file: 'masking/src/shamir.ts',
    before: 'bit < 8',
    after: '(bit <= 8)',
    why: 'the ninth bit of a byte is 0',
  },
  {
    file: 'masking/src/shamir.ts',
    before: 'shares[0]?.share.length ?? 0',
    after: '(shares[0]?.share.length ?? undefined)',
    why: 'an array of undefined length is empty too',
  },
  {
    file: 'masking/src/slot-keys.ts',
    before: 'i < a.length',
    after: '(i <= a.length)',
    why: 'nothing is written past the end of an array of bytes',
  },
];

export function isEquivalent(file: string, { before, after }: Mutant): boolean {
  return EQUIVALENT.some((one) => file.endsWith(one.file) && one.before === before && one.after === after);
}

/** The rules an authority promises, checked record by record: signatures, one key a slot, one close a buffer, one model a version. */
import { equalBytes, toHex } from '@basa/masking';
import {
  type AuthorityRecord,
  type BranchBegun,
  type BufferClosed,
  certificateCodec,
  ctxOf,
  descriptorCodec,
  type Endorsed,
  type EndorsedCodec,
  hasGoodEndorsements,
  headCodec,
  indexOf,
  inTerm,
  isSigned,
  type KeyIssued,
  type ModelEntry,
  modelEntryCodec,
  type SignedDescriptor,
  type TaskPolicy,
  type Term,
  taskIdOf,
  termProblem,
  userIdOf,
  withPolicy,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { type AuditedBuffer, closedProblems } from './closed-rules.ts';
import { ShotRules } from './shot-rules.ts';

interface AuditedTask {
  /** In its current term. */
  policy: TaskPolicy;
  next?: Term;
  successor?: Extract<AuthorityRecord, { kind: 'term-signed' }>;
  readonly models: ModelEntry[];
  signed?: ModelEntry;
  /**
   * The number of models before the one that may be followed by a version without sums: the first of the term or, of a task with one
   * authority, the newest when the branch began.
   */
  modelsBefore?: number;
}

type Kind = AuthorityRecord['kind'];
const NO_COUNTS: Record<Kind, number> = {
  'task-created': 0,
  'device-enrolled': 0,
  'device-revoked': 0,
  'buffer-drawn': 0,
  'key-issued': 0,
  'buffer-voted': 0,
  'buffer-closed': 0,
  'buffer-aborted': 0,
  'buffer-unknown': 0,
  'epoch-opened': 0,
  'epoch-ended': 0,
  'batch-voted': 0,
  'batch-final': 0,
  'upload-expired': 0,
  'model-signed': 0,
  'model-appended': 0,
  'branch-begun': 0,
  'term-signed': 0,
  'term-adopted': 0,
  'term-begun': 0,
};

export class LogRules {
  readonly counts: Record<Kind, number> = { ...NO_COUNTS };
  doubleIssues = 0;
  /** The newest branch; undefined while the log was never found rolled back. */
  branch: Uint8Array | undefined;
  readonly #authorityKey: Uint8Array;
  readonly #tasks = new Map<string, AuditedTask>();
  readonly #devices = new Set<string>();
  readonly #revoked = new Set<string>();
  readonly #retired = new Set<string>();
  readonly #buffers = new Map<string, AuditedBuffer>();
  /** Sums that hold a device's update, by task and device. */
  readonly #inclusions = new Map<string, number>();
  readonly #shots: ShotRules;

  constructor(authorityKey: Uint8Array) {
    this.#authorityKey = authorityKey;
    this.#shots = new ShotRules(authorityKey, (task) => this.#tasks.get(toHex(task))?.policy);
  }

  /** Returns the rules that this record breaks, given those before it. */
  check(entry: AuthorityRecord): readonly string[] {
    this.counts[entry.kind]++;
    switch (entry.kind) {
      case 'task-created':
        this.#tasks.set(toHex(taskIdOf(nodeSuite, entry.policy)), { policy: entry.policy, models: [] });
        // A successor has no seat in the first term.
        return indexOf(entry.policy, this.#authorityKey) === undefined && entry.policy.succession === undefined
          ? ['this authority does not belong to the task']
          : [];
      case 'device-enrolled':
        return this.#enrolled(entry.certificate);
      case 'device-revoked': {
        this.#revoked.add(toHex(entry.user));
        const isAdmitted = [...this.#tasks.values()].some(
          ({ policy, next }) => policy.threshold > 1 || policy.term !== undefined || next !== undefined,
        );
        return this.#devices.has(toHex(entry.user)) || isAdmitted ? [] : ['the device was never enrolled'];
      }
      case 'buffer-drawn':
        return this.#drawn(entry.descriptor);
      case 'key-issued':
        return this.#inBuffer(entry.ctx, (buffer) => this.#issued(buffer, entry));
      case 'buffer-voted':
        return this.#inBuffer(entry.ctx, (buffer) => {
          const isSecond = buffer.voted !== undefined;
          buffer.voted = entry.closing;
          return [
            ...(buffer.state === 'open' ? [] : ['the buffer was not open']),
            ...(isSecond ? ['it voted before'] : []),
          ];
        });
      case 'buffer-closed':
        return this.#inBuffer(entry.ctx, (buffer) => [
          ...closedProblems(buffer, entry),
          ...this.#included(buffer, entry),
        ]);
      case 'buffer-aborted':
      case 'buffer-unknown':
        return this.#inBuffer(entry.ctx, (buffer) => {
          const wasOpen = buffer.state === 'open';
          buffer.state = entry.kind === 'buffer-aborted' ? 'aborted' : 'unknown';
          const isVoted = entry.kind === 'buffer-aborted' && buffer.voted !== undefined;
          return [...(wasOpen ? [] : ['the buffer was not open']), ...(isVoted ? ['it voted for its close'] : [])];
        });
      case 'epoch-opened':
      case 'epoch-ended':
      case 'batch-voted':
      case 'batch-final':
      case 'upload-expired':
        return this.#shots.check(entry);
      case 'model-signed':
        return this.#signed(entry.entry);
      case 'model-appended':
        return this.#appended(entry.entry);
      case 'branch-begun':
        return this.#begun(entry);
      case 'term-signed':
      case 'term-adopted':
      case 'term-begun':
        return this.#ofTerm(entry);
    }
  }

  /** One successor is signed for a term; a term begins after it was adopted, with nothing open of the one before. */
  #ofTerm(entry: Extract<AuthorityRecord, { kind: 'term-signed' | 'term-adopted' | 'term-begun' }>): readonly string[] {
    const name = toHex(entry.kind === 'term-adopted' ? entry.term.task : entry.task);
    const task = this.#tasks.get(name);
    if (task === undefined) return ['there is no such task'];
    if (entry.kind === 'term-signed') {
      const isSecond = task.successor?.number === entry.number;
      task.successor = entry;
      return isSecond ? [`it signed a successor as term ${entry.number} before`] : [];
    }
    if (entry.kind === 'term-adopted') {
      const problem = termProblem(nodeSuite, task.policy, entry.term);
      const isSecond = task.next !== undefined;
      task.next = entry.term;
      return [
        ...(problem === undefined ? [] : [problem.detail ?? problem.reason]),
        ...(isSecond ? ['it adopted a term before, which has not begun'] : []),
      ];
    }
    const isOpen = [...this.#buffers.values()].some(
      ({ state, descriptor }) => state === 'open' && toHex(descriptor.task) === name,
    );
    const { next } = task;
    if (next?.number !== entry.number) return [`term ${entry.number} was not adopted`];
    task.policy = inTerm(nodeSuite, task.policy, next);
    delete task.next;
    delete task.signed;
    task.modelsBefore = task.models.length;
    return [
      ...(isOpen ? ['a buffer of the term before is still open'] : []),
      ...(this.#shots.isOpen(entry.task) ? ['an epoch of the term before is still open'] : []),
    ];
  }

  #enrolled(certificate: Parameters<typeof certificateCodec.encode>[0]): readonly string[] {
    const user = toHex(userIdOf(nodeSuite, certificate.deviceKey));
    this.#devices.add(user);
    return [
      ...this.#signatureProblems(certificateCodec, certificate.task, certificate, 1),
      ...(this.#revoked.has(user) ? ['the device was revoked'] : []),
    ];
  }

  #begun({ branch, met }: BranchBegun): readonly string[] {
    this.branch = branch;
    const isOpen = [...this.#buffers.values()].some(({ state }) => state === 'open');
    const isForeign = met.some((head) => !isSigned(nodeSuite, headCodec, head, this.#authorityKey));
    const isAgain = met.some((head) => this.#retired.has(toHex(head.branch)));
    for (const head of met) this.#retired.add(toHex(head.branch));
    for (const task of this.#tasks.values())
      if (task.policy.threshold === 1) task.modelsBefore = Math.max(task.modelsBefore ?? -1, task.models.length - 1);
    return [
      ...(isOpen ? ['a buffer is still open'] : []),
      ...(this.#shots.isOpen() ? ['an epoch is still open'] : []),
      ...(isForeign ? ['the head it met is not signed by this authority'] : []),
      ...(isAgain ? ['the branch it met was retired before'] : []),
    ];
  }

  #drawn(signed: SignedDescriptor): readonly string[] {
    const ctx = toHex(ctxOf(nodeSuite, signed));
    const isKnown = this.#buffers.has(ctx);
    const policy = this.#tasks.get(toHex(signed.task))?.policy;
    if (policy !== undefined) {
      const descriptor = withPolicy(policy, signed);
      this.#buffers.set(ctx, { descriptor, state: 'open', slots: new Map(), users: new Set() });
    }
    return [
      ...this.#signatureProblems(descriptorCodec, signed.task, signed, 1),
      ...(isKnown ? ['the buffer was drawn before'] : []),
    ];
  }

  #issued(buffer: AuditedBuffer, issued: KeyIssued): readonly string[] {
    const isDouble = buffer.slots.has(issued.slot);
    if (isDouble) this.doubleIssues++;
    const user = toHex(issued.user);
    const isSecond = buffer.users.has(user);
    buffer.slots.set(issued.slot, issued);
    buffer.users.add(user);
    return [
      ...(isDouble ? [`the key of slot ${issued.slot} was issued before`] : []),
      ...(isSecond ? ['the user holds another slot of the buffer'] : []),
      ...(buffer.state === 'open' ? [] : [`the buffer is ${buffer.state}`]),
      ...(issued.slot < buffer.descriptor.bufferSize ? [] : ['there is no such slot']),
      // Enough others may have enrolled it while this one was away.
      ...(this.#devices.has(user) || buffer.descriptor.threshold > 1 ? [] : ['the device was never enrolled']),
      ...(this.#revoked.has(user) ? ['the device was revoked'] : []),
      ...(equalBytes(userIdOf(nodeSuite, issued.deviceKey), issued.user) ? [] : ['the device key is of another user']),
    ];
  }

  /** In a private task no device is in more sums than its budget has inclusions. */
  #included({ descriptor, slots }: AuditedBuffer, { accepted }: BufferClosed): readonly string[] {
    const { privacy, task } = descriptor;
    if (privacy === undefined) return [];
    return accepted.flatMap(({ slot }) => {
      const user = toHex(slots.get(slot)?.user ?? new Uint8Array());
      const name = `${toHex(task)} ${user}`;
      const count = (this.#inclusions.get(name) ?? 0) + 1;
      this.#inclusions.set(name, count);
      return count > privacy.participations
        ? [`the device of slot ${slot} is in more sums than its budget allows`]
        : [];
    });
  }

  /** `needed` authorities of the task must have signed; if one is enough, it must be this one. */
  #signatureProblems<T extends object>(
    codec: EndorsedCodec<T>,
    task: Uint8Array,
    statement: T & Endorsed,
    needed: number,
  ): readonly string[] {
    const policy = this.#tasks.get(toHex(task))?.policy;
    if (policy === undefined) return ['there is no such task'];
    const own = indexOf(policy, this.#authorityKey);
    const isOwn = statement.endorsements.some(({ authority }) => authority === own);
    const isGood =
      (isOwn || needed > 1) &&
      statement.endorsements.length >= needed &&
      hasGoodEndorsements(nodeSuite, codec, policy, statement);
    return isGood ? [] : ['the signature does not verify'];
  }

  #signed(entry: ModelEntry): readonly string[] {
    const task = this.#tasks.get(toHex(entry.task));
    if (task === undefined) return ['there is no such task'];
    const isSecond = task.signed?.version === entry.version;
    task.signed = entry;
    return [
      ...this.#signatureProblems(modelEntryCodec, entry.task, entry, 1),
      ...(isSecond ? [`it signed version ${entry.version} before`] : []),
    ];
  }

  /** With one authority no version is left out; with several it may have been away. */
  #appended(entry: ModelEntry): readonly string[] {
    const task = this.#tasks.get(toHex(entry.task));
    if (task === undefined) return ['there is no such task'];
    const { models, policy } = task;
    const before = models.at(-1);
    const next = (before?.version ?? -1) + 1;
    // The newest entry is signed again in every term, and a successor begins with it.
    const isRenewed =
      before !== undefined &&
      policy.term !== undefined &&
      equalBytes(modelEntryCodec.statement(before), modelEntryCodec.statement(entry));
    if (isRenewed) {
      models.push(entry);
      return this.#signatureProblems(modelEntryCodec, entry.task, entry, policy.threshold);
    }
    const mayBeAway = policy.threshold > 1 || (before === undefined && policy.term !== undefined);
    const isNext = entry.version === next || (mayBeAway && entry.version > next);
    const previous = before === undefined ? new Uint8Array(32) : nodeSuite.sha256(modelEntryCodec.statement(before));
    const isChained = entry.version !== next || equalBytes(entry.previous, previous);
    // The first one may be such a version of an earlier term, also if the server was away for terms, or one that was made while this
    // authority was away. A lying server gains one version without sums in each term by it, and no update twice.
    const mayBeEmpty = task.modelsBefore !== undefined && models.length - task.modelsBefore < 2;
    const problems = [
      ...this.#signatureProblems(modelEntryCodec, entry.task, entry, policy.threshold),
      ...(isNext ? [] : [`version ${entry.version} instead of ${next}`]),
      ...(isChained ? [] : ['does not follow the version before it']),
      ...sumsProblems(entry, models, mayBeEmpty),
    ];
    models.push(entry);
    return [...problems, ...[...entry.sums, ...entry.spoilt].flatMap((ctx) => this.#used(ctx, policy))];
  }

  /** One sum of a version. With several authorities, this one may have been away when it was closed. */
  #used(ctx: Uint8Array, policy: TaskPolicy): readonly string[] {
    if (this.#shots.hasBatch(ctx)) return this.#shots.use(ctx, policy);
    if ((policy.threshold > 1 || policy.term !== undefined) && !this.#buffers.has(toHex(ctx))) return [];
    return this.#inBuffer(ctx, (buffer) => {
      const wasClosed = buffer.state === 'closed' || (policy.threshold > 1 && buffer.state !== 'used');
      buffer.state = 'used';
      return wasClosed ? [] : ['its buffer was not closed, or made another version'];
    });
  }

  #inBuffer(ctx: Uint8Array, check: (buffer: AuditedBuffer) => readonly string[]): readonly string[] {
    const buffer = this.#buffers.get(toHex(ctx));
    return buffer === undefined ? ['there is no such buffer'] : check(buffer);
  }
}

/**
 * Version 0 comes from no sum. The second version of a term and, of a task with one authority, the first of a branch may come from none, and
 * repeat any model in the log.
 * Every other version comes from some. If all of them are spoilt, it repeats the model before it.
 */
function sumsProblems(
  { version, sums, spoilt, modelHash }: ModelEntry,
  models: readonly ModelEntry[],
  mayBeEmpty: boolean,
): readonly string[] {
  const before = models.at(-1);
  const isFirst = version === 0;
  const isEmpty = sums.length + spoilt.length === 0;
  if (isFirst && !isEmpty) return ['the first version names sums'];
  if (isEmpty && !isFirst && !mayBeEmpty) return ['it contains no sum'];
  const isRepeated = (isEmpty ? models : models.slice(-1)).some((one) => equalBytes(one.modelHash, modelHash));
  const isUnknown = before?.version !== version - 1;
  return isFirst || sums.length > 0 || isUnknown || isRepeated
    ? []
    : ['the version contains no good sum, but changed the model'];
}

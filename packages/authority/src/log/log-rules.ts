/** The rules an authority promises, checked record by record: signatures, one vote for an upload, one model a version. */
import { equalBytes, toHex } from '@basa/masking';
import {
  type AuthorityRecord,
  type BranchBegun,
  certificateCodec,
  type Endorsed,
  type EndorsedCodec,
  hasGoodEndorsements,
  headCodec,
  indexOf,
  isSigned,
  type ModelEntry,
  modelEntryCodec,
  type TaskPolicy,
  taskIdOf,
  userIdOf,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { ShotRules } from './shot-rules.ts';

interface AuditedTask {
  readonly policy: TaskPolicy;
  readonly models: ModelEntry[];
  signed?: ModelEntry;
  /** The number of models when the newest branch began. If the task has one authority, the next version may come without sums. */
  modelsBefore?: number;
}

const NO_COUNTS = {
  'task-created': 0,
  'device-enrolled': 0,
  'device-revoked': 0,
  'epoch-opened': 0,
  'epoch-ended': 0,
  'batch-voted': 0,
  'batch-final': 0,
  'model-signed': 0,
  'model-appended': 0,
  'branch-begun': 0,
};

/** The kinds of records that an authority writes. */
export type WrittenKind = keyof typeof NO_COUNTS;

export class LogRules {
  readonly counts: Record<WrittenKind, number> = { ...NO_COUNTS };
  /** The newest branch; undefined while the log was never found rolled back. */
  branch: Uint8Array | undefined;
  readonly #authorityKey: Uint8Array;
  readonly #tasks = new Map<string, AuditedTask>();
  readonly #devices = new Set<string>();
  readonly #revoked = new Set<string>();
  readonly #retired = new Set<string>();
  readonly #shots: ShotRules;

  constructor(authorityKey: Uint8Array) {
    this.#authorityKey = authorityKey;
    this.#shots = new ShotRules(authorityKey, (task) => this.#tasks.get(toHex(task))?.policy);
  }

  /** Returns the rules that this record breaks, given those before it. */
  check(entry: AuthorityRecord): readonly string[] {
    if (!isWritten(entry)) return ['no authority writes such a record'];
    this.counts[entry.kind]++;
    switch (entry.kind) {
      case 'task-created':
        this.#tasks.set(toHex(taskIdOf(nodeSuite, entry.policy)), { policy: entry.policy, models: [] });
        return indexOf(entry.policy, this.#authorityKey) === undefined
          ? ['this authority does not belong to the task']
          : [];
      case 'device-enrolled':
        return this.#enrolled(entry.certificate);
      case 'device-revoked': {
        this.#revoked.add(toHex(entry.user));
        // Others may have enrolled it.
        const isAdmitted = [...this.#tasks.values()].some(({ policy }) => policy.threshold > 1);
        return this.#devices.has(toHex(entry.user)) || isAdmitted ? [] : ['the device was never enrolled'];
      }
      case 'epoch-opened':
      case 'epoch-ended':
      case 'batch-voted':
      case 'batch-final':
        return this.#shots.check(entry);
      case 'model-signed':
        return this.#signed(entry.entry);
      case 'model-appended':
        return this.#appended(entry.entry);
      case 'branch-begun':
        return this.#begun(entry);
    }
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
    const isForeign = met.some((head) => !isSigned(nodeSuite, headCodec, head, this.#authorityKey));
    const isAgain = met.some((head) => this.#retired.has(toHex(head.branch)));
    for (const head of met) this.#retired.add(toHex(head.branch));
    for (const task of this.#tasks.values()) if (task.policy.threshold === 1) task.modelsBefore = task.models.length;
    return [
      ...(this.#shots.isOpen ? ['an epoch is still open'] : []),
      ...(isForeign ? ['the head it met is not signed by this authority'] : []),
      ...(isAgain ? ['the branch it met was retired before'] : []),
    ];
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
    const { models, modelsBefore, policy } = task;
    const before = models.at(-1);
    const next = (before?.version ?? -1) + 1;
    const isNext = entry.version === next || (policy.threshold > 1 && entry.version > next);
    const previous = before === undefined ? new Uint8Array(32) : nodeSuite.sha256(modelEntryCodec.statement(before));
    const isChained = entry.version !== next || equalBytes(entry.previous, previous);
    const problems = [
      ...this.#signatureProblems(modelEntryCodec, entry.task, entry, policy.threshold),
      ...(isNext ? [] : [`version ${entry.version} instead of ${next}`]),
      ...(isChained ? [] : ['does not follow the version before it']),
      ...sumsProblems(entry, models, modelsBefore === models.length),
    ];
    models.push(entry);
    return [...problems, ...[...entry.sums, ...entry.spoilt].flatMap((ctx) => this.#used(ctx, policy))];
  }

  /** One sum of a version. With several authorities, this one may have been away when its batch became final. */
  #used(ctx: Uint8Array, policy: TaskPolicy): readonly string[] {
    return policy.threshold > 1 && !this.#shots.hasBatch(ctx) ? [] : this.#shots.use(ctx, policy);
  }
}

function isWritten(entry: AuthorityRecord): entry is Extract<AuthorityRecord, { kind: WrittenKind }> {
  return entry.kind in NO_COUNTS;
}

/**
 * Version 0 comes from no sum. If a task has one authority, the first version of a branch may also come from none, and repeat any model in the
 * log. Every other version comes from some. If all of them are spoilt, it repeats the model before it.
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

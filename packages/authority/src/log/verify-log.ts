/**
 * Verifies the log of an authority offline: its records and its head must belong together and be signed, and the
 * authority must have kept its own rules. It shares the codecs with the authority, not its state machine.
 */
import { ByteReader, DecodeError, equalBytes, toHex } from '@basa/masking';
import {
  decodeAuthorityRecord,
  EMPTY_LOG_HASH,
  FIRST_BRANCH,
  type Head,
  headCodec,
  isSigned,
  nextLogHash,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { LogRules, type WrittenKind } from './log-rules.ts';

export interface LogReport {
  /** True if there are no problems. */
  readonly isGood: boolean;
  /** The problems, each with the record at which it was found. */
  readonly problems: readonly string[];
  readonly records: number;
  readonly counts: Readonly<Record<WrittenKind, number>>;
  /** The head the log ends with, in hexadecimal: compare it with the heads that devices and the server saw. */
  readonly head: string | undefined;
}

export function verifyLog(bytes: Uint8Array, authorityKey: Uint8Array): LogReport {
  const rules = new LogRules(authorityKey);
  const problems: string[] = [];
  let hash = EMPTY_LOG_HASH;
  let records = 0;
  let head: Head | undefined;
  try {
    const reader = new ByteReader(bytes);
    for (;;) {
      const length = reader.u32(`length of record ${records + 1}`);
      if (length === 0) break;
      const entry = decodeAuthorityRecord(reader.bytes(`record ${records + 1}`, length));
      records++;
      hash = nextLogHash(nodeSuite, hash, entry);
      problems.push(...rules.check(entry).map((problem) => `record ${records} (${entry.kind}): ${problem}`));
    }
    head = headCodec.decode(reader.bytes('head', reader.remaining));
    const { branch, counts } = rules;
    problems.push(...headProblems(head, authorityKey, { records, hash, branch, revoked: counts['device-revoked'] }));
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    problems.push(`after record ${records}: ${error.message}`);
  }
  return {
    isGood: problems.length === 0,
    problems,
    records,
    counts: rules.counts,
    head: head === undefined ? undefined : toHex(headCodec.encode(head)),
  };
}

function headProblems(
  head: Head,
  authorityKey: Uint8Array,
  log: {
    readonly records: number;
    readonly hash: Uint8Array;
    readonly branch: Uint8Array | undefined;
    readonly revoked: number;
  },
): readonly string[] {
  const isOwn = isSigned(nodeSuite, headCodec, head, authorityKey);
  return [
    ...(isOwn ? [] : ['head: not signed by this authority']),
    ...(head.sequence === log.records ? [] : [`head: counts ${head.sequence} records, the log has ${log.records}`]),
    ...(head.revocations === log.revoked
      ? []
      : [`head: counts ${head.revocations} revocations, the log has ${log.revoked}`]),
    ...(equalBytes(head.hash, log.hash) ? [] : ['head: the hash of the log is another']),
    ...(equalBytes(head.branch, log.branch ?? FIRST_BRANCH) ? [] : ['head: of another branch']),
  ];
}

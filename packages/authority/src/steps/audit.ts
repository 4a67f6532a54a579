/** The audit file: one line of JSON for each enrolment, revocation and final batch, for people. No other part of the authority reads it. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { toHex } from '@basa/masking';
import type { Ctx, TaskId, UserId } from '@basa/protocol';
import { type Batch, type ShotHeader, uploadNameOf } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { flushNames } from '@basa/service/durable-names';

/** In the data folder. */
export const AUDIT_FILE = 'audit.jsonl';

export type AuditLine =
  | { readonly kind: 'enrolled'; readonly task: TaskId; readonly user: UserId }
  | { readonly kind: 'revoked'; readonly user: UserId }
  | { readonly kind: 'final'; readonly ctx: Ctx; readonly batch: Batch; readonly headers: readonly ShotHeader[] };

export class Audit {
  readonly #path: string;
  readonly #clock: () => number;

  constructor(path: string, clock: () => number) {
    this.#path = path;
    this.#clock = clock;
    const file = openSync(path, 'a+', 0o600);
    try {
      const { size } = fstatSync(file);
      const last = Buffer.from('\n');
      if (size > 0) readSync(file, last, 0, 1, size - 1);
      // A line that a crash cut off ends here, so that the next one is whole.
      if (last.toString() !== '\n') writeSync(file, '\n');
    } finally {
      closeSync(file);
    }
    flushNames(dirname(path));
  }

  /**
   * A batch is on the disk before its unit has it, so that neither a crash nor a power cut leaves a final batch out; asked again, it is
   * written again. Enrolments come by the thousand and are in the database: they are not flushed one by one.
   */
  write(line: AuditLine): Promise<void> {
    const text = JSON.stringify({ at: new Date(this.#clock()).toISOString(), kind: line.kind, ...readable(line) });
    return appendFile(this.#path, `${text}\n`, { mode: 0o600, flush: line.kind !== 'enrolled' });
  }
}

function readable(line: AuditLine): object {
  if (line.kind === 'enrolled') return { task: toHex(line.task), user: toHex(line.user) };
  if (line.kind === 'revoked') return { user: toHex(line.user) };
  const uploads = line.headers.map((header) => ({
    name: toHex(uploadNameOf(nodeSuite, header)),
    user: toHex(header.user),
    joinTag: toHex(header.joinTag),
    model: toHex(header.model),
  }));
  return { task: toHex(line.batch.task), ctx: toHex(line.ctx), uploads };
}

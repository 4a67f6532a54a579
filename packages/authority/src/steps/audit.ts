/** The audit file: one line of JSON for each enrolment, revocation and final batch, for people. No other part of the authority reads it. */
import { appendFile } from 'node:fs/promises';
import { toHex } from '@basa/masking';
import type { Ctx, TaskId, UserId } from '@basa/protocol';
import { type Batch, type ShotHeader, uploadNameOf } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';

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
  }

  /** A batch is written before its unit has it, so that a crash leaves no final batch out; asked again, it is written again. */
  write(line: AuditLine): Promise<void> {
    const text = JSON.stringify({ at: new Date(this.#clock()).toISOString(), kind: line.kind, ...readable(line) });
    return appendFile(this.#path, `${text}\n`, { mode: 0o600 });
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

/** Work on long records that many uploads of a request share: each record is hashed and verified once, not again for each upload. */
import { type Suite, toHex } from '@basa/masking';
import type { Ctx } from '../../wire/brands.ts';
import { type Council, isEndorsed } from '../../wire/council.ts';
import { type ModelEntry, modelEntryCodec } from '../../wire/model-log.ts';
import { type Batch, batchCtxOf } from '../../wire/one-shot/batch.ts';

interface NamedBatch {
  readonly ctx: Ctx;
  /** Its uploads, in hex. */
  readonly uploads: ReadonlySet<string>;
}

export interface SharedWork {
  batch(batch: Batch): NamedBatch;
  entryHash(entry: ModelEntry): Uint8Array;
  /** True if enough authorities signed it. */
  isEndorsed(entry: ModelEntry): boolean;
}

export function sharedWork(suite: Suite, council: Council): SharedWork {
  return {
    batch: once((batch) => ({ ctx: batchCtxOf(suite, batch), uploads: new Set(batch.uploads.map(toHex)) })),
    entryHash: once((entry) => modelEntryCodec.statementHash(suite, entry)),
    isEndorsed: once((entry) => isEndorsed(suite, modelEntryCodec, council, entry)),
  };
}

function once<Long extends object, Result>(work: (of: Long) => Result): (of: Long) => Result {
  const known = new Map<Long, { readonly result: Result }>();
  return (of) => {
    const found = known.get(of) ?? { result: work(of) };
    known.set(of, found);
    return found.result;
  };
}

/** The policy of each task and the terms that this authority adopted, from only its log. */
import { toHex } from '@basa/masking';
import { decodeAuthorityRecord, type Line, taskIdOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { AuthorityTables } from '../store/tables.ts';

const PAGE = 1000;

/** By the names of the tasks. */
export async function linesOf(tables: AuthorityTables): Promise<ReadonlyMap<string, Line>> {
  const lines = new Map<string, Line>();
  for (let from = 1; ; from += PAGE) {
    const page = await tables.records(from, PAGE);
    for (const { bytes } of page) {
      const entry = decodeAuthorityRecord(bytes);
      if (entry.kind === 'task-created')
        lines.set(toHex(taskIdOf(nodeSuite, entry.policy)), { policy: entry.policy, terms: [] });
      if (entry.kind !== 'term-adopted') continue;
      const line = lines.get(toHex(entry.term.task));
      if (line !== undefined) lines.set(toHex(entry.term.task), { ...line, terms: [...line.terms, entry.term] });
    }
    if (page.length < PAGE) return lines;
  }
}

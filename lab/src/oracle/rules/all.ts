/** All rules that have an attack and a mutant, in the order of the last table of the page about the protocol. */
import { BATCH_RULES } from './batches.ts';
import { PART_RULES } from './parts.ts';
import type { Rule } from './rule.ts';
import { SECRET_RULES } from './secrets.ts';
import { STATEMENT_RULES } from './statements.ts';
import { SUM_RULES } from './sums.ts';
import { TIME_RULES } from './time.ts';
import { UNIT_RULES } from './units.ts';

export const RULES: readonly Rule[] = [
  ...SECRET_RULES,
  ...PART_RULES,
  ...BATCH_RULES,
  ...STATEMENT_RULES,
  ...TIME_RULES,
  ...UNIT_RULES,
  ...SUM_RULES,
];

/** The code that the long trials remove from the core is still in it: a patch that no longer fits would go unnoticed for days. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { CORE_RULES, LOG_RULES } from '../../src/proofs/explorer/missing-rules.ts';
import { SHOT_RULES } from '../../src/proofs/explorer/one-shot/worlds.ts';
import { MUTANTS } from '../../src/proofs/mutants/list.ts';
import type { SourcePatch } from '../../src/proofs/patched-core.ts';

/** Files of mutants are below the protocol unless they give a full path. */
function fromRoot(edit: SourcePatch): SourcePatch {
  return edit.file.startsWith('packages/') ? edit : { ...edit, file: `packages/protocol/src/${edit.file}` };
}

const RULES: readonly { readonly name: string; readonly patches?: readonly SourcePatch[] }[] = [
  ...CORE_RULES,
  ...LOG_RULES,
  ...SHOT_RULES,
  ...MUTANTS.map(({ name, edits }) => ({ name, patches: edits.map(fromRoot) })),
];

it.each(RULES.map(({ name, patches = [] }) => [name, patches] as const))(
  'every text that is changed for "%s" is in its file once',
  (_, patches) => {
    expect(patches.length).toBeGreaterThan(0);
    for (const { file, find } of patches) expect(readFileSync(join(ROOT, file), 'utf8').split(find)).toHaveLength(2);
  },
);

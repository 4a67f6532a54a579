/** TypeBox as our programs load it from source: a few files instead of 683. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FROM_SOURCE, ROOT } from '@basa/testkit/root.ts';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'basa-typebox-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('its entries work together, and none of its other modules is loaded', () => {
  const program = `import { Type } from 'typebox';
    import { Compile } from 'typebox/compile';
    import { Value } from 'typebox/value';
    const schema = Type.Object({ n: Type.Integer({ default: 7 }) });
    const { n } = Value.Default(schema, {});
    console.log(n, Compile(schema).Check({ n }), Value.Check(schema, { n: 0.5 }));`;
  const words = [...FROM_SOURCE, '--input-type=module', '-e', program];
  const options = { cwd: join(ROOT, 'packages/service'), env: { ...process.env, NODE_V8_COVERAGE: folder } };
  expect(String(execFileSync(process.execPath, words, options))).toBe('7 true false\n');
  const coverage = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const loaded = coverage.flatMap((text) => text.match(/"file:[^"]*\/node_modules\/typebox\/[^"]*"/g) ?? []);
  expect(new Set(loaded.map((url) => url.replace(/.*\/build\/|"/g, '')))).toEqual(
    new Set(['index.mjs', 'compile/index.mjs', 'value/index.mjs']),
  );
});

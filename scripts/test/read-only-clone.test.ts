/** A clone that this user may not write: programs run all the same, and what does not is told in a sentence. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { afterAll, expect, it } from 'vitest';

const clone = mkdtempSync(join(tmpdir(), 'basa-read-only-'));
afterAll(() => rmSync(clone, { recursive: true }));
for (const folder of ['scripts', 'node_modules', 'packages/web/site', 'packages/web/src', 'test/kit/src/browser'])
  mkdirSync(join(clone, folder), { recursive: true });
for (const file of ['typescript.mjs', 'typescript-hooks.mjs', 'keep-whole.mjs', 'ensure-pages.mjs'])
  copyFileSync(join(ROOT, 'scripts', file), join(clone, 'scripts', file));
symlinkSync(join(ROOT, 'node_modules/esbuild'), join(clone, 'node_modules/esbuild'));
writeFileSync(join(clone, 'node_modules/.cache'), 'a file, so that nobody can make folders in it'); // also for root
writeFileSync(join(clone, 'packages', 'web', 'src', 'page.ts'), '');

const run = (...words: readonly string[]) => spawnSync(process.execPath, words, { cwd: clone, encoding: 'utf8' });

it('reads TypeScript without keeping what it made of it', () => {
  writeFileSync(join(clone, 'program.ts'), "const said: string = 'it runs';\nconsole.log(said);\n");
  const { stdout, stderr } = run('--import', './scripts/typescript.mjs', 'program.ts');
  expect([stdout, stderr]).toEqual(['it runs\n', '']);
});

it('says that pages cannot be built and what to do, and goes on', () => {
  const refused = "Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', path: '/clone/dist' })";
  writeFileSync(join(clone, 'scripts/write-pages.ts'), `throw ${refused};\n`);
  const { stderr, status } = run('scripts/ensure-pages.mjs');
  expect(stderr).toContain(
    'The web pages cannot be built, because you are not permitted to write /clone/dist (EACCES).',
  );
  expect(stderr).toContain('once as the owner of');
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(status).toBe(0);
});

it('hides no other fault', () => {
  writeFileSync(join(clone, 'scripts/write-pages.ts'), "throw new Error('a page is wrong');\n");
  expect(run('scripts/ensure-pages.mjs')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('a page is wrong'),
  });
});

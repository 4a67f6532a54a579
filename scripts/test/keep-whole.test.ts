/** Files that several threads write at the same time. */
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

interface KeepWhole {
  keepWhole(file: URL, text: string, rename?: (draft: URL, file: URL) => void): void;
}

const { keepWhole }: KeepWhole = await import(new URL('../keep-whole.mjs', import.meta.url).href);

it('a thread that keeps the same file between the draft and the end of another disturbs nobody', () => {
  const folder = mkdtempSync(join(tmpdir(), 'basa-keep-'));
  const file = pathToFileURL(join(folder, 'kept.js'));
  keepWhole(file, 'first', (draft) => {
    keepWhole(file, 'second');
    renameSync(draft, file);
  });
  expect(readFileSync(file, 'utf8')).toBe('first'); // the last one's
  expect(readdirSync(folder)).toEqual(['kept.js']);
  rmSync(folder, { recursive: true });
});

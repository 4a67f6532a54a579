import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder } from '../src/shell/process.ts';

it('a folder that exists is not proposed for a new device', () => {
  const here = mkdtempSync(join(tmpdir(), 'basa-folder-'));
  const name = join(here, 'my-device');
  expect(newFolder(name)).toBe(name);
  mkdirSync(name);
  mkdirSync(`${name}-2`);
  expect(newFolder(name)).toBe(`${name}-3`);
  rmSync(here, { recursive: true });
});

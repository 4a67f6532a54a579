/** The shim of the power cuts: what was flushed stays, and nothing else does. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { PowerCuts } from '../../src/trials/powercut.ts';

const hasCompiler = process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Runs the program in an empty folder until it kills itself, and cuts its power. */
function afterCut(program: string, share = 1): { readonly root: string; readonly lost: number } {
  const folder = mkdtempSync(join(tmpdir(), 'basa-cut-'));
  folders.push(folder);
  const root = join(folder, 'kept');
  const random = [share === 1 ? 0 : 0.9, share];
  const life = new PowerCuts(join(folder, 'cuts'), () => random.shift() ?? share).life(root);
  const script = join(folder, 'program.mjs');
  writeFileSync(script, `${TOOLS}\n${program}\nprocess.kill(process.pid, 'SIGKILL');\nawait new Promise(() => {});`);
  const { signal, stderr } = spawnSync(process.execPath, [script], { env: { ...process.env, ...life.environment } });
  expect([signal, String(stderr)]).toEqual(['SIGKILL', '']);
  return { root, lost: life.cut() };
}

const TOOLS = `
import { closeSync, fdatasyncSync, fsyncSync, ftruncateSync, mkdirSync, openSync, renameSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
const root = process.env.BASA_CUT_ROOT;
const at = (name) => root + '/' + name;
const flush = (path) => { const fd = openSync(path, 'r'); fsyncSync(fd); closeSync(fd); };
const write = (name, text) => { const fd = openSync(at(name), 'w'); writeSync(fd, text); return fd; };
const durable = (name, text) => { const fd = write(name, text); fsyncSync(fd); closeSync(fd); flush(root); };
`;

it.skipIf(!hasCompiler)('bytes that were not flushed are gone, those before a flush are not', () => {
  const { root, lost } = afterCut(`
    const fd = write('a', 'flushed'); fdatasyncSync(fd); flush(root);
    writeSync(fd, ' lost'); writeSync(fd, 'LOST', 0);
    durable('b', 'whole'); const b = openSync(at('b'), 'r+'); ftruncateSync(b, 2);
    durable('c', 'old'); write('c', 'other');
    const file = await open(at('b'), 'r+'); await file.write(Buffer.from('xx'), 0, 2, 7);
  `);
  expect(lost).toBeGreaterThanOrEqual(4);
  expect(['a', 'b', 'c'].map((name) => readFileSync(join(root, name), 'utf8'))).toEqual(['flushed', 'whole', 'old']);
});

it.skipIf(!hasCompiler)('names that were made, changed or removed are as their folder was flushed', () => {
  const { root } = afterCut(`
    durable('kept', 'kept'); durable('target', 'before'); durable('gone', 'here');
    const fd = write('unnamed', 'flushed itself'); fsyncSync(fd);
    const fresh = write('fresh', 'after'); fsyncSync(fresh);
    renameSync(at('fresh'), at('target'));
    unlinkSync(at('gone'));
    mkdirSync(at('folder/deep'), { recursive: true });
  `);
  expect(readFileSync(join(root, 'target'), 'utf8')).toBe('before');
  expect(readFileSync(join(root, 'gone'), 'utf8')).toBe('here');
  expect(['kept', 'unnamed', 'fresh', 'folder'].map((name) => existsSync(join(root, name)))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

it.skipIf(!hasCompiler)('a rename whose folder was flushed stays', () => {
  const { root } = afterCut(`
    durable('target', 'before');
    const fd = write('fresh', 'after'); fsyncSync(fd);
    renameSync(at('fresh'), at('target')); flush(root);
    mkdirSync(at('folder')); flush(root);
    const inner = openSync(at('folder/file'), 'w'); writeSync(inner, 'x'); fsyncSync(inner); flush(at('folder'));
    rmSync(at('folder'), { recursive: true });
  `);
  expect(readFileSync(join(root, 'target'), 'utf8')).toBe('after');
  expect(existsSync(join(root, 'fresh'))).toBe(false);
  expect(readFileSync(join(root, 'folder', 'file'), 'utf8')).toBe('x');
});

it.skipIf(!hasCompiler)('some of what was not flushed may have reached the disk', () => {
  const { root, lost } = afterCut(
    `durable('a', ''); const fd = openSync(at('a'), 'r+'); for (const word of ['1', '2', '3', '4']) writeSync(fd, word);`,
    0.5,
  );
  expect([lost, readFileSync(join(root, 'a'), 'utf8')]).toEqual([2, '12']);
});

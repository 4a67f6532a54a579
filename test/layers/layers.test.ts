/** The packages import each other only as ARCHITECTURE.md draws it, and each rule fails when it is broken. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { findBreaches } from './check.ts';
import { HOUSE } from './house.ts';
import { findWorkshopBreaches } from './workshop.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A core with one party. */
const PROTOCOL = {
  'protocol/package.json': '{"name":"@basa/protocol"}',
  'protocol/src/index.ts': "export * from './one-shot/device.ts';",
  'protocol/src/one-shot/device.ts': 'export {};',
};
const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});

describe('the packages', () => {
  it('are those of the drawing in ARCHITECTURE.md', () => {
    expect(findBreaches(root)).toEqual([]);
  });

  it('has a laboratory, tests, scripts and examples beside it that no path leads into', () => {
    expect(findWorkshopBreaches(root)).toEqual([]);
  });

  it('is drawn without circles: a package that may be imported may not import back', () => {
    const reaches = (from: string, to: string): boolean =>
      HOUSE[from]?.mayImport.some((next) => next === to || reaches(next, to)) ?? false;
    expect(Object.keys(HOUSE).filter((name) => reaches(name, name))).toEqual([]);
  });

  it('has folders without circles, and parties, all of which exist', () => {
    for (const [name, { folders, parties = [] }] of Object.entries(HOUSE)) {
      for (const file of parties.flat()) expect(existsSync(join(root, 'packages', name, 'src', file)), file).toBe(true);
      if (folders === undefined) continue;
      const reaches = (from: string, to: string): boolean =>
        folders[from]?.some((next) => next === to || reaches(next, to)) ?? false;
      expect(Object.keys(folders).filter((folder) => reaches(folder, folder))).toEqual([]);
      const entries = readdirSync(join(root, 'packages', name, 'src'), { withFileTypes: true });
      const drawn = Object.keys(folders).sort();
      expect(entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()).toEqual(drawn);
    }
  });

  it('lets only pure packages into pure packages', () => {
    const pure = Object.entries(HOUSE).filter(([, room]) => room.pure);
    expect(pure.flatMap(([, room]) => room.mayImport.filter((name) => !HOUSE[name]?.pure))).toEqual([]);
  });

  it('is linted as it is drawn: the lint rules for pure packages name every pure package', () => {
    const { overrides } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as {
      overrides: { includes: string[]; plugins?: string[] }[];
    };
    const [pattern = ''] = overrides.find(({ plugins }) => plugins !== undefined)?.includes ?? [];
    const linted = /\{(.*)\}/.exec(pattern)?.[1]?.split(',') ?? [];
    expect(linted.sort()).toEqual(
      Object.keys(HOUSE)
        .filter((name) => HOUSE[name]?.pure)
        .sort(),
    );
  });
});

describe('each rule fails when it is broken', () => {
  it.each([
    [
      'an import the picture does not have',
      { 'abe/src/a.ts': "import '@basa/protocol';" },
      'may not depend on @basa/protocol',
    ],
    [
      'a sibling that is not declared',
      { 'runtime/src/a.ts': "import '@basa/masking';" },
      'is not declared in package.json',
    ],
    ['a package nobody declared', { 'abe/src/a.ts': "export * from 'left-pad';" }, 'left-pad is not declared'],
    ['a dependency nobody imports', { 'abe/src/a.ts': 'export {};' }, '@basa/protocol is declared but never imported'],
    ['a way out of the package', { 'abe/src/a.ts': "import '../../masking/src/m.ts';" }, 'leaves the package'],
    [
      'a cycle, even of types',
      { 'abe/src/a.ts': "import type { B } from './b.ts';", 'abe/src/b.ts': "export * from './a.ts';" },
      'import cycle',
    ],
    ['an import of the own index', { 'abe/src/a.ts': "import './index.ts';" }, 'imports its own index'],
    ['an import of the own package', { 'abe/src/a.ts': "await import('@basa/abe');" }, 'imports its own package'],
    [
      'a party of the core that imports another',
      { ...PROTOCOL, 'protocol/src/one-shot/server.ts': "import './device.ts';" },
      'a party may not import another (one-shot/device.ts)',
    ],
    [
      'a folder of the core that imports one above it',
      { ...PROTOCOL, 'protocol/src/wire/b.ts': "import '../one-shot/device.ts';" },
      'wire/ may not import one-shot/',
    ],
    ['a file of the core beside its folders', { ...PROTOCOL, 'protocol/src/b.ts': '' }, 'lies in no folder'],
    ['a package that is not drawn', { 'attic/src/a.ts': '' }, 'not in the picture'],
    ['node in browser code', { 'runtime/src/web/a.ts': "import 'node:fs';" }, 'browser code imports node:fs'],
    [
      'a pure package with a wider world',
      { 'abe/tsconfig.json': '{"extends":"../../tsconfig.base.json","compilerOptions":{"types":["node"]}}' },
      'a pure package sets types',
    ],
  ])('%s', (_, files, breach) => {
    expect(findBreaches(houseWith(files)).join('\n')).toContain(breach);
  });

  it.each([
    [
      'a package that imports from the tests',
      './packages/abe/test/a.test.ts',
      "import '../../../test/x.ts';",
      'into test',
    ],
    ['a test that imports a script', './test/a.test.ts', "import '../scripts/x.ts';", 'into scripts'],
    ['a script that looks inside the kit', './scripts/a.ts', "import '../test/kit/src/x.ts';", 'into test/kit'],
    [
      'a test that looks inside a package',
      './test/a.test.ts',
      "import '../packages/abe/src/x.ts';",
      'into packages/abe',
    ],
    ['a kit that looks inside the laboratory', './test/kit/src/a.ts', "import '../../../lab/src/x.ts';", 'into lab'],
    [
      'an example that looks inside a package',
      './examples/a.ts',
      "import '../packages/abe/src/index.ts';",
      'into packages/abe',
    ],
    ['a kit that could be published', './test/kit/package.json', '{"name":"@basa/testkit"}', 'is private'],
    ['a cycle in the tests', './test/a.ts', "import './a.ts';", 'import cycle test/a.ts -> test/a.ts'],
  ])('%s', (_, path, text, breach) => {
    const folder = houseWith({ '../test/kit/package.json': '{"name":"@basa/testkit","private":true}' });
    expect(findWorkshopBreaches(folder)).toEqual([]);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    expect(findWorkshopBreaches(folder).join('\n')).toContain(breach);
  });

  it('a pure package does not compile when it touches crypto, timers, console, process, Buffer or the network', () => {
    const touches = {
      crypto: 'crypto.getRandomValues(new Uint8Array(1))',
      setTimeout: 'setTimeout(() => 1, 1)',
      console: 'console.log(1)',
      process: 'process.exit(1)',
      Buffer: 'Buffer.alloc(1)',
      fetch: 'fetch("")',
      WebAssembly: 'WebAssembly.validate',
      TextEncoder: 'new TextEncoder()',
    };
    const folder = houseWith(
      Object.fromEntries(
        Object.entries(touches).map(([name, use]) => [
          `masking/src/touch-${name}.ts`,
          `export const used: unknown = ${use};\n`,
        ]),
      ),
    );
    const output = compilerErrors(folder);
    for (const name of Object.keys(touches)) {
      expect(output).toMatch(new RegExp(`touch-${name}\\.ts.*Cannot find name '${name}'`));
    }
  });

  it('a pure package without them compiles', () => {
    expect(compilerErrors(houseWith({ 'masking/src/fine.ts': 'export const sum: number = Math.max(1, 2);\n' }))).toBe(
      '',
    );
  });

  it('lint refuses Date and Math.random in a pure package, and nowhere else', () => {
    const uses = 'export const now: number = Date.now() + Math.random();\n';
    const folder = houseWith({ 'masking/src/uses.ts': uses, 'runtime/src/uses.ts': uses });
    execFileSync('git', ['init', '--quiet', folder]);
    const lint = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', '--colors=off', '.'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const report = lint.stdout + lint.stderr;
    expect(lint.status).not.toBe(0);
    expect(report).toMatch(/masking\/src\/uses\.ts.*noRestrictedGlobals/);
    expect(report).toContain('never from Math.random');
    expect(report).not.toMatch(/runtime\/src\/uses\.ts/);
  });
});

/** A small house with the given files under packages/, and the configuration of the real one. */
function houseWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'basa-house-'));
  made.push(folder);
  const base: Record<string, string> = {
    'masking/package.json': '{"name":"@basa/masking","type":"module"}',
    'masking/src/m.ts': 'export {};\n',
    'runtime/package.json': '{"name":"@basa/runtime"}',
    'runtime/src/r.ts': 'export {};\n',
    'abe/package.json': '{"name":"@basa/abe","dependencies":{"@basa/protocol":"0.0.0"}}',
    'abe/src/index.ts': 'export {};\n',
    'attic/package.json': '{"name":"@basa/attic"}',
  };
  const room = '{"extends":"../../tsconfig.base.json","include":["src"]}';
  for (const name of ['masking', 'abe']) base[`${name}/tsconfig.json`] = room;
  if (!Object.keys(files).some((path) => path.startsWith('attic/'))) delete base['attic/package.json'];
  for (const [path, text] of Object.entries({ ...base, ...files })) {
    mkdirSync(dirname(join(folder, 'packages', path)), { recursive: true });
    writeFileSync(join(folder, 'packages', path), text);
  }
  for (const name of ['biome.json', 'lint', 'tsconfig.base.json', 'package.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

function compilerErrors(folder: string): string {
  const options = ['--noEmit', '--composite', 'false', '--incremental', 'false', '-p', 'packages/masking'];
  return spawnSync(join(root, 'node_modules/.bin/tsc'), options, { cwd: folder, encoding: 'utf8' }).stdout;
}

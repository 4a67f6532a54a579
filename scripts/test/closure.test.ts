import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { closureOf } from '../packages/pack.ts';

const packages = readdirSync(join(ROOT, 'packages')).map((folder) => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  return { name: manifest.name, manifest };
});

it('a device needs six of our packages, and none with a database', () => {
  const needed = closureOf('@basa/client', packages);
  expect(needed.map(({ name }) => name)).toEqual(
    ['abe', 'client', 'learning', 'masking', 'protocol', 'runtime'].map((name) => `@basa/${name}`),
  );
  const others = needed.flatMap(({ manifest }) => Object.keys(manifest.dependencies ?? {}));
  expect(others.filter((name) => !name.startsWith('@basa/')).sort()).toEqual([
    '@noble/ciphers',
    '@noble/curves',
    '@noble/curves',
    '@noble/hashes',
    '@noble/post-quantum',
    'mcl-wasm',
    'undici',
  ]);
});

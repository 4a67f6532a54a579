import { expect, it } from 'vitest';
import { publishedManifest } from '../packages/published-manifest.ts';

const manifest = {
  name: '@basa/some',
  version: '1.2.3',
  files: ['dist/**/*.js'],
  exports: { '.': { '@basa/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' } },
  dependencies: { '@basa/masking': '1.2.3' },
  devDependencies: { '@basa/runtime': '1.2.3' },
};

it('a published package.json names no source and nothing that only tests need', () => {
  const published = publishedManifest(manifest, 'packages/some', undefined);
  expect(published.exports).toEqual({ '.': { types: './dist/index.d.ts', default: './dist/index.js' } });
  expect(published).toMatchObject({ name: '@basa/some', dependencies: { '@basa/masking': '1.2.3' } });
  expect(Object.keys(published)).not.toContain('devDependencies');
  expect(Object.keys(published)).not.toContain('repository');
});

it.each(['https://example.org/us/basa.git', 'git@example.org:us/basa.git', 'ssh://git@example.org:22/us/basa'])(
  'a package cloned from %s says where it comes from, as provenance needs it',
  (remote) => {
    expect(publishedManifest(manifest, 'packages/some', remote)).toMatchObject({
      repository: { type: 'git', url: 'git+https://example.org/us/basa.git', directory: 'packages/some' },
      homepage: 'https://example.org/us/basa/tree/main/packages/some#readme',
      bugs: 'https://example.org/us/basa/issues',
    });
  },
);

it('a token in the address of the clone does not get into a package', () => {
  const published = publishedManifest(manifest, 'packages/some', 'https://x:secret@example.org/us/basa.git');
  expect(JSON.stringify(published)).not.toContain('secret');
});

/** The bill of materials of a release: what npm reads from the real lockfile, cut down to what people install. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { bomOfLock, publishedBom, sha256Of } from '../packages/sbom.ts';

it('names every published package with the hash of its tarball, what they install, and nothing of the tests', () => {
  const manifests = readdirSync(join(ROOT, 'packages')).map((folder) => join(ROOT, 'packages', folder, 'package.json'));
  // Any file stands for a tarball here.
  const tarballs = new Map(
    manifests.map((file) => {
      const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
        name: string;
        dependencies?: Record<string, string>;
      };
      return [manifest.name, { file, manifest }];
    }),
  );
  const { bomFormat, components, dependencies } = publishedBom(bomOfLock(), tarballs);
  expect(bomFormat).toBe('CycloneDX');
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...tarballs.keys(), 'fastify', 'pg']));
  expect(names.filter((name) => ['lab', 'conformance', 'kit', 'vitest', 'esbuild'].includes(name))).toEqual([]);
  const cli = components.find(({ name }) => name === '@basa/cli');
  expect(cli?.hashes).toEqual([{ alg: 'SHA-256', content: sha256Of(tarballs.get('@basa/cli')?.file ?? '') }]);
  expect(components.filter(({ hashes = [] }) => hashes.length === 0)).toEqual([]);
  const known = new Set(components.map((one) => one['bom-ref']));
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !known.has(ref))).toEqual([]);
});

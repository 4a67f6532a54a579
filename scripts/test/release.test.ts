import { expect, it } from 'vitest';
import { releaseProblems } from '../packages/release-problems.ts';

const manifests = [
  { name: '@basa/a', version: '1.2.3' },
  { name: '@basa/b', version: '1.2.3', dependencies: { '@basa/a': '1.2.3', other: '7.0.0' } },
];
const changelog = '# Changelog\n\n## 1.2.3 (2026-11-17)\n';

it('packages of one version that is in the changelog may be released, on its tag or without one', () => {
  expect(releaseProblems('1.2.3', manifests, changelog)).toEqual([]);
  expect(releaseProblems('1.2.3', manifests, changelog, 'v1.2.3')).toEqual([]);
});

it('another version, a dependency on another version, an entry without a date and another tag are each found', () => {
  const mixed = [
    { name: '@basa/a', version: '1.2.2' },
    { name: '@basa/b', version: '1.2.3', devDependencies: { '@basa/a': '1.2.2' } },
  ];
  expect(releaseProblems('1.2.3', mixed, '## 1.2.3 (unreleased)\n## 1.2.30 (2026-11-17)\n', 'v1.3.0')).toEqual([
    '@basa/a has version 1.2.2, not 1.2.3',
    '@basa/b asks for @basa/a 1.2.2, not 1.2.3',
    'CHANGELOG.md has no entry "## 1.2.3 (<year>-<month>-<day>)"',
    'the tag is v1.3.0, not v1.2.3',
  ]);
});
